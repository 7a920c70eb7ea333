package auth

import "context"

// Method is how a principal was known.
type Method string

// The ways to be known.
const (
	ByPassword   Method = "password"
	ByOIDC       Method = "oidc"
	ByProxy      Method = "proxy"
	ByToken      Method = "token"
	ByBreakGlass Method = "break-glass"
	ByDemo       Method = "demo" // the operator of a demo
	ByNone       Method = "none" // sign-in is off: everybody is "local"
)

// Principal is who is asking. The zero Principal is nobody and may nothing.
type Principal struct {
	ID      string // stable and unique: "user:<id>", "oidc:<issuer hash>:<subject>", "proxy:<name>", "token:<id>", "local"
	Name    string // for people; hostile text when it comes from outside
	Role    Role
	Method  Method
	Session string // id of the session, "" when there is none; never its secret
	From    string // client address without port
}

// May tells whether the principal has a role or one that includes it.
func (p Principal) May(r Role) bool { return p.ID != "" && p.Role.Includes(r) }

// Local is everybody when sign-in is off.
func Local() Principal {
	return Principal{ID: "local", Name: "local", Role: Admin, Method: ByNone}
}

type principalKey struct{}

// With puts who is asking into a context.
func With(ctx context.Context, p Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// From is who is asking; the zero Principal when that was never established.
func From(ctx context.Context) Principal {
	p, _ := ctx.Value(principalKey{}).(Principal)
	return p
}
