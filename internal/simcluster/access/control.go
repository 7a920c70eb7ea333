// Package access is the access control of the simulated mongos: authentication
// (SCRAM-SHA-1, SCRAM-SHA-256 and X.509 certificates), users and roles, and
// authorization of commands.
//
// A Control holds users and roles; it is safe for concurrent use. A Session holds the
// authenticated users of one connection. Refusals have the text of MongoDB 5.0.7: a
// wrong password and an unknown user get the same error after the same work.
//
// The rules follow observations of MongoDB 5.0.7 and its sources db/auth/builtin_roles,
// db/auth/authorization_session_impl and the checks of the mongos commands. Unlike
// 5.0.7, which caches users, changes take effect with the next command.
package access

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/xdg-go/scram"
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// Name is the name of a user or role together with the database it belongs to.
type Name struct{ Name, DB string }

// id is the _id in admin.system.users and admin.system.roles.
func (n Name) id() string { return n.DB + "." + n.Name }

// String is name@db.
func (n Name) String() string { return n.Name + "@" + n.DB }

func (n Name) user() bson.D { return value.D("user", n.Name, "db", n.DB) }
func (n Name) role() bson.D { return value.D("role", n.Name, "db", n.DB) }

// compareNames orders by database and name, as the _id does.
func compareNames(a, b Name) int { return strings.Compare(a.id(), b.id()) }

// account is a user.
type account struct {
	id          [16]byte // distinguishes a user from a dropped one of the same name
	roles       []Name
	credentials map[string]scram.StoredCredentials // by mechanism
	custom      bson.Raw                           // customData, nil for none
}

// role is a user-defined role.
type role struct {
	privileges Privileges
	roles      []Name
}

// Control is the users and roles of a cluster.
type Control struct {
	enforced bool
	major    int
	rules    map[string]rule

	mu       sync.RWMutex
	change   uint64 // incremented by every change of users and roles
	accounts map[Name]*account
	roles    map[Name]*role
}

// Options configure access control.
type Options struct {
	// Enforced turns authorization on. Without it users and roles can be created and used
	// for signing in, but everything is allowed.
	Enforced bool
	Major    int    // major server version
	Users    []User // initial users
}

// User is an initial user.
type User struct {
	Name     string // belongs to admin, or to $external when Certificate is set
	Password string
	// Certificate says that the user has no password and signs in with a client
	// certificate whose subject is Name, such as "CN=jo,O=Example".
	Certificate bool
	Roles       []string // "name" on admin or "name@db"; none means root
}

// New makes the access control of a cluster.
func New(o Options) (*Control, error) {
	c := &Control{
		enforced: o.Enforced, major: o.Major, rules: allRules(),
		accounts: make(map[Name]*account), roles: make(map[Name]*role),
	}
	for _, u := range o.Users {
		if u.Name == "" || u.Certificate == (u.Password != "") {
			return nil, fmt.Errorf("user %q needs a name and either a password or a certificate", u.Name)
		}
		var roles []Name
		for _, r := range u.Roles {
			name, db, found := strings.Cut(r, "@")
			if !found {
				db = "admin"
			}
			roles = append(roles, Name{name, db})
		}
		if len(roles) == 0 {
			roles = []Name{{"root", "admin"}}
		}
		if err := c.checkRoles(roles); err != nil {
			return nil, fmt.Errorf("user %q: %w", u.Name, err)
		}
		a := &account{id: newID(), roles: roles}
		if u.Certificate {
			c.accounts[Name{u.Name, externalDB}] = a
			continue
		}
		if err := a.setPassword(u.Name, u.Password, mechanisms()); err != nil {
			return nil, fmt.Errorf("user %q: %w", u.Name, err)
		}
		c.accounts[Name{u.Name, "admin"}] = a
	}
	return c, nil
}

// Enforced reports whether authorization is on.
func (c *Control) Enforced() bool { return c.enforced }

func newID() (id [16]byte) {
	rand.Read(id[:])
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return id
}

func (a *account) setPassword(user, password string, with []mechanism) error {
	made := make(map[string]scram.StoredCredentials, len(with))
	for _, m := range with {
		cred, err := m.newCredential(user, password)
		if err != nil {
			return err
		}
		made[m.name] = cred
	}
	a.credentials = made
	return nil
}

// Mechanisms lists a user's mechanisms, strongest first; nil for an unknown user.
func (c *Control) Mechanisms(user Name) []string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	a := c.accounts[user]
	if a == nil {
		return nil
	}
	var out []string
	for _, m := range mechanisms() {
		if _, ok := a.credentials[m.name]; ok {
			out = append(out, m.name)
		}
	}
	return out
}

// checkRoles fails when a role does not exist. The caller holds mu.
func (c *Control) checkRoles(roles []Name) error {
	for _, r := range roles {
		if _, ok := c.roles[r]; ok {
			continue
		}
		if _, ok := builtin(r, c.major); !ok {
			return status.Errorf(31, "Could not find role: %s", r)
		}
	}
	return nil
}

// resolve returns the privileges of roles and all inherited roles. The caller holds mu.
func (c *Control) resolve(direct []Name) (Privileges, []Name) {
	all, seen := Privileges{}, map[Name]bool{}
	var inherited []Name
	var visit func(Name)
	visit = func(n Name) {
		if seen[n] {
			return
		}
		seen[n] = true
		if p, ok := builtin(n, c.major); ok {
			all.addAll(p)
		} else if r, ok := c.roles[n]; ok {
			all.addAll(r.privileges)
			for _, more := range r.roles {
				visit(more)
			}
		} else {
			return // dropped
		}
		inherited = append(inherited, n)
	}
	for _, n := range direct {
		visit(n)
	}
	slices.SortFunc(inherited, compareNames)
	return all, inherited
}

// Session holds the authenticated users of one connection. It is used by one command at
// a time and needs no lock.
type Session struct {
	control *Control
	open    *conversation
	users   []member

	change uint64 // Control.change when grants was computed
	fresh  bool
	grants Privileges
	roles  []Name // direct and inherited
}

// member is a signed-in user. A different id means that the user was dropped and
// created again.
type member struct {
	name Name
	id   [16]byte
}

// NewSession makes an anonymous session for a new connection.
func (c *Control) NewSession() *Session { return &Session{control: c} }

// join signs a user in and replaces another user of the same database.
func (s *Session) join(user Name) {
	c := s.control
	c.mu.RLock()
	a := c.accounts[user]
	c.mu.RUnlock()
	s.leave(user.DB)
	if a != nil {
		s.users = append(s.users, member{user, a.id})
	}
	s.fresh = false
}

// leave signs out the user of a database.
func (s *Session) leave(db string) {
	s.users = slices.DeleteFunc(s.users, func(m member) bool { return m.name.DB == db })
	s.fresh = false
}

// current updates the session after changes of users and roles.
func (s *Session) current() {
	c := s.control
	c.mu.RLock()
	defer c.mu.RUnlock()
	if s.fresh && s.change == c.change {
		return
	}
	s.users = slices.DeleteFunc(s.users, func(m member) bool {
		a := c.accounts[m.name]
		return a == nil || a.id != m.id
	})
	var direct []Name
	for _, m := range s.users {
		direct = append(direct, c.accounts[m.name].roles...)
	}
	s.grants, s.roles = c.resolve(direct)
	s.change, s.fresh = c.change, true
}

// SignedIn reports whether a user is signed in.
func (s *Session) SignedIn() bool {
	s.current()
	return len(s.users) > 0
}

// Owner identifies the users of the session, as the owner of cursors and sessions;
// empty for anonymous.
func (s *Session) Owner() string {
	s.current()
	owner := ""
	for _, m := range s.users {
		owner += m.name.id() + "\x00"
	}
	return owner
}

// May reports whether all actions are allowed on a resource.
func (s *Session) May(target Resource, actions ...string) bool {
	s.current()
	return s.grants.May(target, actions...)
}

// MayAnythingIn reports whether any action is allowed in a database.
func (s *Session) MayAnythingIn(db string) bool {
	s.current()
	return s.grants.anyIn(db)
}

// MayAnythingOn reports whether any action is allowed on a collection.
func (s *Session) MayAnythingOn(db, coll string) bool {
	s.current()
	return s.grants.any(OnNamespace(db, coll))
}

// is reports whether this user is signed in.
func (s *Session) is(user Name) bool {
	return slices.ContainsFunc(s.users, func(m member) bool { return m.name == user })
}

// has reports whether the session has a role, directly or by inheritance.
func (s *Session) has(role Name) bool {
	s.current()
	return slices.Contains(s.roles, role)
}

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
		"saslStart":    func(s *Session, r *engine.Request) (bson.D, error) { return s.start(r.DB, r.Body) },
		"authenticate": func(s *Session, r *engine.Request) (bson.D, error) { return s.byCertificate(r.DB, r.Body, r.Conn) },
		"saslContinue": saslContinue, "logout": logout, "connectionStatus": connectionStatus,
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
