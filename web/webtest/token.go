package webtest

import (
	"net/http"
)

func Bearer(secret string) func(*http.Request) {
	return Header("Authorization", "Bearer "+secret)
}
