package site

import (
	"errors"
	"net/http"
)

func tooLarge(err error) bool {
	var tooLong *http.MaxBytesError
	return errors.As(err, &tooLong)
}
