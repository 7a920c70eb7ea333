package access

import (
	"crypto/rand"
	"fmt"
	"strings"
	"sync"

	"github.com/xdg-go/scram"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Name is the name of a user or role together with the database it belongs to.
type Name struct{ Name, DB string }

// id is the _id in admin.system.users and admin.system.roles.
func (n Name) id() string { return n.DB + "." + n.Name }

// String is name@db.
func (n Name) String() string { return n.Name + "@" + n.DB }

func (n Name) user() bson.D { return bson.D{{Key: "user", Value: n.Name}, {Key: "db", Value: n.DB}} }
func (n Name) role() bson.D { return bson.D{{Key: "role", Value: n.Name}, {Key: "db", Value: n.DB}} }

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
