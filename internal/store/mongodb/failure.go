package mongodb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
	"shardboard/internal/store"
)

// Error codes of the server (base/error_codes.yml).
const (
	codeUnauthorized   = 13
	codeAuthentication = 18
	codeSnapshotTooOld = 239
	codeAtlas          = 8000 // what Atlas itself refuses
)

// failed classifies an error of the driver and remembers it as the state of the store. ctx is that
// of the call. A caller that left is no failure of the store.
func (db *DB) failed(ctx context.Context, err error) error {
	var known *fault.Error
	switch {
	case err == nil || errors.As(err, &known):
		return err
	case errors.Is(ctx.Err(), context.Canceled):
		return fmt.Errorf("%w (%w)", context.Canceled, err)
	case errors.Is(err, mongo.ErrClientDisconnected):
		return fault.Wrap(fault.Unavailable, err, "shardboard is being stopped.")
	}
	if t, ok := db.troubleOf(err); ok {
		return db.state.meet(t, err).Failed(err)
	}
	if errors.Is(err, context.DeadlineExceeded) || labelled(err, "TransientTransactionError") {
		return fault.Wrap(fault.Unavailable, err,
			"The database of shardboard was busy for too long, so nothing was stored. Try again in a few seconds.")
	}
	return err
}

// troubleOf recognises errors that concern the whole store.
func (db *DB) troubleOf(err error) (store.Trouble, bool) {
	var server mongo.ServerError
	if errors.As(err, &server) {
		switch {
		case server.HasErrorCode(codeAuthentication):
			return db.rights("The server refused the user name or password of the store %s.", db.address), true
		case server.HasErrorCode(codeUnauthorized), server.HasErrorCode(codeAtlas):
			return db.rights("The user of the store may not do what shardboard needs in %s (%s).", db.address, brief(err)), true
		}
		for _, code := range server.ErrorCodes() {
			if unavailable(code) {
				return db.unreachable(err), true
			}
		}
	}
	if text := err.Error(); strings.Contains(text, "auth error") || strings.Contains(text, "AuthenticationFailed") {
		return db.rights("The server refused the user name or password of the store %s.", db.address), true
	}
	if lostConnection(err) {
		return db.unreachable(err), true
	}
	return store.Trouble{}, false
}

func (db *DB) rights(format string, args ...any) store.Trouble {
	return store.Trouble{Code: store.TroubleRights, Cause: fmt.Sprintf(format, args...),
		Remedy: "Correct the user in the address, or grant it the role readWrite on that database (docs/data.md)."}
}

func (db *DB) unreachable(err error) store.Trouble {
	return store.Trouble{Code: store.TroubleUnreachable,
		Cause: fmt.Sprintf("The database %s cannot be reached (%s).", db.address, brief(err)),
		Remedy: "Look whether its replica set has a primary, and at the network between. shardboard tries again all the time; " +
			"sign-in, plans and settings work when it answers."}
}

// brief is the beginning of a driver's error on one line. When no server can be selected, it is why the
// last attempt to connect failed. The driver never quotes the password.
func brief(err error) string {
	text := err.Error()
	if _, last, ok := strings.Cut(text, "Last error: "); ok {
		text, _, _ = strings.Cut(last, " }")
	}
	return sanitize.Line(sanitize.Shorten(text, 200))
}

func hasCode(err error, code int) bool {
	e, ok := asServerError(err)
	return ok && e.HasErrorCode(code)
}

// unavailable reports whether a code means that the server cannot answer now.
func unavailable(code int) bool {
	switch code {
	case 6, 7, 89, 91, 133, 134, 189, 202, 10107, 11600, 11602, 13435, 13436, 317, 9001:
		return true // unreachable, shutting down, no primary, stepping down
	}
	return false
}

func lostConnection(err error) bool {
	var network net.Error
	text := err.Error()
	return mongo.IsNetworkError(err) || strings.Contains(text, "server selection") || errors.As(err, &network) && network.Timeout() ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, net.ErrClosed) ||
		errors.As(err, new(*net.OpError)) || strings.Contains(text, "connection refused") || strings.Contains(text, "connection pool")
}
