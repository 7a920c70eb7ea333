package auth

import (
	"cmp"
	"context"
	"strings"
)

// Method is how a principal signed in.
type Method string

// The sign-in methods of a principal.
const (
	ByPassword   Method = "password"
	ByOIDC       Method = "oidc"
	ByProxy      Method = "proxy"
	ByToken      Method = "token"
	ByBreakGlass Method = "break-glass"
	ByDemo       Method = "demo" // the demo's operator
	ByNone       Method = "none" // sign-in is off
)

var methodLabels = map[Method]string{
	ByOIDC:       "single sign-on",
	ByBreakGlass: "break-glass account",
	ByNone:       "sign-in is off",
}

// Label is the method as people read it; an unknown one is shown as it is.
func (m Method) Label() string { return cmp.Or(methodLabels[m], string(m)) }

// Principal is the user or token behind a request. The zero Principal is anonymous and has no
// rights.
type Principal struct {
	ID      string // stable and unique: "user:<id>", "oidc:<issuer hash>:<subject>", "proxy:<name>", "token:<id>", "local"
	Name    string // for display; untrusted text when it comes from outside
	Role    Role
	Method  Method
	Session string // session id, "" without a session; never the secret
	From    string // client address without port

	// ServerRole is the role on the server, where Role is that on one cluster of several.
	ServerRole Role

	// Groups are those at the issuer: of a person as of the sign-in, of a token those that its owner had
	// when it was made.
	Groups []string

	// Of a token only: its owner, as far as an account here says who that is.
	Owner, OwnerName string
	OwnerRole        Role
	// Clusters are those that a token is bound to, with its role on each; nil: it is not bound.
	Clusters map[string]Role
}

// May reports whether the principal has a role or one that includes it.
func (p Principal) May(r Role) bool { return p.ID != "" && p.Role.Includes(r) }

// Person identifies the human behind a principal: of a session the account, of a token its owner, so
// that somebody with a session and several tokens is one person. It is "" when that is not known: of a
// token that was made on the machine of the data, of everybody while sign-in is off, and of nobody.
// Nothing here can tell that two accounts belong to the same human.
func (p Principal) Person() string {
	switch p.Method {
	case ByNone, ByDemo, ByConsole:
		return ""
	case ByToken:
		if kind, _, _ := strings.Cut(p.Owner, ":"); kind == "user" || kind == "oidc" || kind == "proxy" {
			return p.Owner
		}
		return ""
	}
	return p.ID
}

// PersonName is Person for people to read.
func (p Principal) PersonName() string {
	if p.Method == ByToken {
		return cmp.Or(p.OwnerName, p.Owner)
	}
	return cmp.Or(p.Name, p.ID)
}

// NameAndOwner is the name of who acts, of a token with whose it is.
func (p Principal) NameAndOwner() string {
	if p.Method == ByToken && p.PersonName() != "" {
		return p.Name + ", a token of " + p.PersonName()
	}
	return p.Name
}

// Local is every visitor when sign-in is off.
func Local() Principal {
	return Principal{ID: "local", Name: "local", Role: Admin, Method: ByNone}
}

type principalKey struct{}

// With stores the principal in a context.
func With(ctx context.Context, p Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// From returns the principal of a context; the zero Principal if none was stored.
func From(ctx context.Context) Principal {
	p, _ := ctx.Value(principalKey{}).(Principal)
	return p
}
