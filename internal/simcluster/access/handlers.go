package access

import (
	"context"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
)

// Of returns the session of a connection and creates it on first use. An internal
// request has no connection and gets a new anonymous session.
func (c *Control) Of(conn *engine.Conn) *Session {
	if conn == nil {
		return c.NewSession()
	}
	if s, ok := conn.Access.(*Session); ok {
		return s
	}
	s := c.NewSession()
	conn.Access = s
	return s
}

// Handlers returns the commands of this package by name.
func (c *Control) Handlers() map[string]engine.Handler {
	plain := map[string]func(*engine.Request) (bson.D, error){
		"createUser": c.createUser, "updateUser": c.updateUser, "dropUser": c.dropUser, "usersInfo": c.usersInfo,
		"grantRolesToUser": c.grantRolesToUser,
		"createRole":       c.createRole, "updateRole": c.updateRole, "rolesInfo": c.rolesInfo,
		"grantPrivilegesToRole": c.grantPrivileges,
	}
	ofSession := map[string]func(*Session, *engine.Request) (bson.D, error){
		"saslStart": saslStart, "saslContinue": saslContinue, "logout": logout, "authenticate": authenticate,
		"connectionStatus": connectionStatus,
	}
	out := make(map[string]engine.Handler, len(plain)+len(ofSession))
	for name, run := range plain {
		out[name] = func(_ context.Context, r *engine.Request) (bson.D, error) { return run(r) }
	}
	for name, run := range ofSession {
		out[name] = func(_ context.Context, r *engine.Request) (bson.D, error) { return run(c.Of(r.Conn), r) }
	}
	return out
}

// Changes reports whether a command changes users or roles.
func Changes(command string) bool {
	for _, verb := range []string{"create", "update", "drop", "grant"} {
		if rest, ok := strings.CutPrefix(command, verb); ok {
			return strings.Contains(rest, "User") || strings.Contains(rest, "Role")
		}
	}
	return false
}
