// Package status has the error type of the simulated server: a MongoDB error code, its
// name and a message. It does not import the engine, so that every layer can return
// errors with the server's codes.
package status

import (
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Error is a command or write error of a MongoDB server.
type Error struct {
	Code    int32  // error code of src/mongo/base/error_codes.yml, or the number of an unnamed assertion
	Name    string // code name; "Location<code>" for unnamed assertions
	Message string
	NoCode  bool   // old errmsg style: the reply has neither code nor codeName
	Extra   bson.D // further fields of the reply, such as keyPattern and keyValue of a duplicate key
}

// Error is the message alone, as errmsg shows it.
func (e *Error) Error() string { return e.Message }

// Errorf makes an Error; the name comes from the code table.
func Errorf(code int32, format string, args ...any) *Error {
	message := format
	if len(args) > 0 {
		message = fmt.Sprintf(format, args...)
	}
	return &Error{Code: code, Name: Name(code), Message: message}
}

// Plain makes an error in the old errmsg style: a message without code and name.
func Plain(format string, args ...any) *Error {
	e := Errorf(0, format, args...)
	e.Name, e.NoCode = "", true
	return e
}

// Context puts a context in front of an error's message, if there is one, as uassertStatusOKWithContext does.
func Context(what string, err error) error {
	if what == "" || err == nil {
		return err
	}
	e := *Of(err)
	e.Message = what + " :: caused by :: " + e.Message
	return &e
}

// Of returns err as an *Error. Errors of other types become InternalError (1) with
// their text. It returns nil for nil.
func Of(err error) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return Errorf(InternalError, "%s", err.Error())
}
