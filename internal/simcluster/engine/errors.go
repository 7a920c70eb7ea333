package engine

import "shardboard/internal/simcluster/engine/status"

// Error is a command or write error of a MongoDB server; see package status for the
// codes.
type Error = status.Error

// Errorf makes an Error; Name is filled from the code table.
func Errorf(code int32, format string, args ...any) *Error {
	return status.Errorf(code, format, args...)
}

// AsError converts any error to an *Error; nil for nil.
func AsError(err error) *Error { return status.Of(err) }
