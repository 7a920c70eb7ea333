package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// Server error codes used for classification (MongoDB 5.0.7, base/error_codes.yml).
const (
	codeBadValue           = 2
	codeUnauthorized       = 13
	codeAuthentication     = 18
	codeNamespaceNotFound  = 26
	codeMaxTime            = 50
	codeCommandNotFound    = 59
	codeConflictingOp      = 117
	codeShardTimeLimit     = 202
	codeExceededTimeLimit  = 262
	codeFeatureUnsupported = 303 // products that speak MongoDB's protocol, such as Amazon DocumentDB
	codeReshardCommits     = 340
	codeReshardAborted     = 341
	codeUnrecognizedStage  = 40324
	codeOptionNotSupported = 238
	codeAtlas              = 8000 // MongoDB Atlas refuses a command before it reaches the server
)

// unavailable reports whether a code means that the mongos, the config servers or a
// shard cannot answer now.
func unavailable(code int) bool {
	switch code {
	case 6, 7, // host unreachable, not found
		24, 46, // lock not available
		43,                  // cursor not found: the mongos behind the address changed
		50,                  // time limit of the command
		63, 150, 249, 13388, // stale routing, also after the router tried again
		70,       // shard not found: being removed
		89,       // network timeout
		91,       // shutting down
		133,      // no primary
		134, 246, // majority read, snapshot not possible yet
		136, 175, // the read was overtaken: capped collection, dropped index
		189, 10107, 13435, 13436, // stepping down, starting
		11600, 11601, 11602, // interrupted
		202, // network interface exceeded its time limit: a shard or config server hangs
		237, // cursor killed
		262, // exceeded time limit
		317, 9001:
		return true
	}
	return false
}

// quoted makes text from the cluster safe inside a sentence.
func quoted(s string) string {
	const limit = 100
	if len(s) > limit {
		s = s[:limit] + "…"
	}
	return fmt.Sprintf("%q", s)
}

// serverTextLimit is how much of a server's message is kept, more than any known
// message. Pages show the beginning and link to the whole.
const serverTextLimit = 4000

// serverText puts the server's message on one line and keeps its quotes, so that ids
// and bounds can be copied from it.
func serverText(s string) string {
	return `"` + sanitize.Line(sanitize.Shorten(s, serverTextLimit)) + `"`
}

// classify gives a driver error a kind and a sentence. ctx is the command's context;
// doing is the attempted action, in the infinitive; privilege is what it needs. Only a
// cancellation by the caller stays without a kind: the driver also reports "canceled"
// for a connection that it closes because another one broke.
func (c *Client) classify(ctx context.Context, err error, doing, privilege string) error {
	var known *fault.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return fmt.Errorf("%s: %w (%w)", doing, ctx.Err(), err)
	}
	var server mongo.ServerError
	if errors.As(err, &server) {
		if e := c.classifyServer(server, err, doing, privilege); e != nil {
			return e
		}
	}
	text := err.Error()
	switch {
	case strings.Contains(text, "AuthenticationFailed"), strings.Contains(text, "auth error"):
		c.rotation.look()
		return c.signInRefused(err)
	case strings.Contains(text, "x509:"), strings.Contains(text, "tls:"):
		return fault.NoAnswer(err, "No TLS connection to %s could be made; check the tls options of the address.", c.hosts())
	case strings.Contains(text, "no such host"):
		return fault.NoAnswer(err, "The host of %s is not known.", c.hosts())
	case mongo.IsTimeout(err), errors.Is(ctx.Err(), context.DeadlineExceeded):
		if !isSelection(err) {
			return fault.NoAnswer(err, "The cluster at %s did not answer in time: the mongos is reached, and it, the config "+
				"servers or a shard hangs. Look whether each replica set has a primary (rs.status()) and whether its machines "+
				"are overloaded.", c.hosts())
		}
		fallthrough
	case lostConnection(err):
		return fault.NoAnswer(err, "The cluster at %s cannot be reached.", c.hosts())
	}
	return fault.Wrap(fault.Internal, err, "The cluster's answer to an attempt to %s is not understood.", doing)
}

// signInRefused is the error for credentials that are refused, or that the driver does not find.
func (c *Client) signInRefused(err error) error {
	says := "refused the user name or password. Correct them in the address; authSource names the database of the user."
	switch c.URI().mechanism() {
	case "mongodb-x509":
		says = "refused the certificate of the address. Create its subject as a user of the database $external."
	case "mongodb-aws":
		says = "refused the AWS identity, or none was found. Give credentials by the environment, the instance or the pod, and create " +
			"the ARN of its role as a user of the database $external."
	case "mongodb-oidc":
		says = "refused the identity of this workload, or none was found. Look at ENVIRONMENT and TOKEN_RESOURCE of " +
			"authMechanismProperties, and at the identity provider that the cluster is configured with."
	}
	return fault.Wrap(fault.Forbidden, err, "The cluster at %s %s", c.hosts(), says)
}

func (c *Client) classifyServer(server mongo.ServerError, err error, doing, privilege string) error {
	switch {
	case server.HasErrorCode(codeAuthentication):
		c.rotation.look()
		return c.signInRefused(err)
	case server.HasErrorCode(codeUnauthorized):
		if strings.Contains(err.Error(), "requires authentication") {
			return fault.Wrap(fault.Forbidden, err, "The cluster at %s wants a user name and password in its address.", c.hosts())
		}
		return c.denied(err, doing, privilege)
	case server.HasErrorCode(codeAtlas):
		return c.atlasRefuses(err, doing, privilege)
	case server.HasErrorCode(codeNamespaceNotFound), server.HasErrorCode(codeCommandNotFound),
		server.HasErrorCode(codeUnrecognizedStage), server.HasErrorCode(codeOptionNotSupported):
		return fault.Wrap(fault.NotFound, err, "The cluster has nothing there to %s.", doing)
	case server.HasErrorCode(codeFeatureUnsupported):
		said, _ := answerOf(err)
		return fault.Wrap(fault.Internal, err, "The server at %s refuses to %s: %s. It is perhaps another product than MongoDB: "+
			"shardboard needs a mongos of MongoDB 4.4 or later.", c.hosts(), doing, serverText(said.text))
	case server.HasErrorCode(codeConflictingOp):
		return fault.Wrap(fault.Conflict, err, "Another operation is in the way of an attempt to %s.", doing)
	}
	for _, code := range server.ErrorCodes() {
		if unavailable(code) {
			return fault.NoAnswer(err, "The cluster at %s could not %s in time: one of its servers does not answer. Look "+
				"whether each replica set has a primary (rs.status()).", c.hosts(), doing)
		}
	}
	return nil
}

func isSelection(err error) bool {
	return strings.Contains(err.Error(), "server selection")
}

// lostConnection reports whether a command failed because there was no connection or it
// was lost. The driver labels most of these errors. Failed connection attempts, and
// pools cleared after another command's failure, are recognized by text, because their
// types are internal to the driver.
func lostConnection(err error) bool {
	var network net.Error
	if mongo.IsNetworkError(err) || isSelection(err) || errors.As(err, &network) || errors.Is(err, io.EOF) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, context.Canceled) ||
		errors.Is(err, mongo.ErrClientDisconnected) {
		return true
	}
	text := err.Error()
	return slices.ContainsFunc([]string{"connection refused", "connection pool", "connection("},
		func(s string) bool { return strings.Contains(text, s) })
}

// on formats a privilege with its namespace.
func on(privilege string, ns topology.Namespace) string { return privilege + " on " + string(ns) }
