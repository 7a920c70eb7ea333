package site

import (
	"shardboard/internal/answer"
)

// internalQuery describes it for the API.
func InternalQuery() Param {
	return Query(answer.InternalParam, "1: with the server's own collections too (databases config, admin and local, system.* but not system.buckets.*); default 0. hidden says how many were left out")
}
