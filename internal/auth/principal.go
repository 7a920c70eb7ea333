package auth

import "context"

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

// Label is the method as people read it; an unknown one is shown as it is.
func (m Method) Label() string {
	switch m {
	case ByOIDC:
		return "single sign-on"
	case ByBreakGlass:
		return "break-glass account"
	case ByNone:
		return "sign-in is off"
	}
	return string(m)
}

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
