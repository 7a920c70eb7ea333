package auditing

import (
	"context"
	"slices"
	"strings"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/answer/data"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
	"shardboard/internal/store"
)

// Accounts lists who may sign in, and who is signed in, as far as somebody may see it.
type Accounts interface {
	// Mode is the enabled sign-in methods.
	Mode() auth.Mode
	// Offers are what the sign-in page can offer now.
	Offers(ctx context.Context) (auth.Offers, error)
	// Users are all accounts, by name.
	Users(ctx context.Context, by auth.Principal) ([]auth.User, error)
	// Sessions are by's own sessions, newest first; all sessions for an admin.
	Sessions(ctx context.Context, by auth.Principal) ([]auth.Session, error)
	// Tokens are by's own tokens, newest first; all tokens for an admin.
	Tokens(ctx context.Context, by auth.Principal) ([]auth.Token, error)
}

// SignIn is how people can sign in here, or why nobody can.
func SignIn(ctx context.Context, from Accounts, c store.Condition) (api.SignIn, error) {
	offers, err := from.Offers(ctx)
	if err != nil {
		return api.SignIn{}, err
	}
	if c.Hold == store.Owned && offers.ReadOnly {
		c.Hold = store.OwnedByAnother
	}
	return api.SignIn{Password: offers.Password, OIDC: offers.OIDC, Proxy: from.Mode().Has(auth.ModeProxy), NoUserYet: offers.First,
		Closed: data.HoldMessage("noSignIn", data.NoSignInReasons, c)}, nil
}

// Me is who asks, with all roles that theirs includes.
func Me(who auth.Principal) api.Me {
	out := api.Me{ID: who.ID, Name: who.Name, Role: string(who.Role), Method: string(who.Method), From: who.From, Roles: []string{}}
	for _, role := range auth.Roles() {
		if who.May(role) {
			out.Roles = append(out.Roles, string(role))
		}
	}
	return out
}

// Settings is what somebody can see and change about themselves.
func Settings(ctx context.Context, from Accounts, who auth.Principal, now time.Time) (out api.Settings, err error) {
	out = api.Settings{Me: Me(who), CanAddToken: !from.Mode().Off()}
	out.CanChangePassword = out.CanAddToken && (who.Method == auth.ByPassword || who.Method == auth.ByBreakGlass)
	if out.Sessions, err = Sessions(ctx, from, who); err != nil {
		return out, err
	}
	if out.Tokens, err = Tokens(ctx, from, who, now); err != nil {
		return out, err
	}
	// An admin is given everybody's.
	out.Sessions = slices.DeleteFunc(out.Sessions, func(x api.Session) bool { return x.Subject != who.ID })
	out.Tokens = slices.DeleteFunc(out.Tokens, func(x api.Token) bool { return x.Owner != who.ID })
	return out, nil
}

// Everybody is all accounts, sessions and tokens, for an admin.
func Everybody(ctx context.Context, from Accounts, who auth.Principal, now time.Time) (out api.Everybody, err error) {
	out.CanChange = !from.Mode().Off()
	if out.Users, err = Users(ctx, from, who); err != nil {
		return out, err
	}
	if out.Sessions, err = Sessions(ctx, from, who); err != nil {
		return out, err
	}
	out.Tokens, err = Tokens(ctx, from, who, now)
	return out, err
}

// Users are the accounts of shardboard's own.
func Users(ctx context.Context, from Accounts, who auth.Principal) ([]api.User, error) {
	all, err := from.Users(ctx, who)
	return answer.Map(all, func(u auth.User) api.User {
		out := User(u)
		out.Self = "user:"+u.ID == who.ID
		return out
	}), err
}

// Sessions are those that somebody may see.
func Sessions(ctx context.Context, from Accounts, who auth.Principal) ([]api.Session, error) {
	all, err := from.Sessions(ctx, who)
	return answer.Map(all, func(x auth.Session) api.Session {
		return api.Session{ID: x.ID, Subject: x.Subject, Name: x.Name, Role: string(x.Role), Method: string(x.Method), From: x.From,
			Created: x.Created.UTC(), Used: x.Used.UTC(), Ends: x.Ends.UTC(), Current: x.Current, IssuerID: issuerID(x.Subject, x.Name)}
	}), err
}

// Tokens are those that somebody may see.
func Tokens(ctx context.Context, from Accounts, who auth.Principal, now time.Time) ([]api.Token, error) {
	all, err := from.Tokens(ctx, who)
	return answer.Map(all, func(x auth.Token) api.Token {
		out := Token(x)
		out.Expired = !x.Expires.After(now)
		if out.OwnerName = x.OwnerName; x.OwnerName != "" {
			out.OwnerIssuerID = issuerID(x.Owner, x.OwnerName)
		}
		return out
	}), err
}

// User is an account on the wire.
func User(u auth.User) api.User {
	return api.User{ID: u.ID, Name: u.Name, Role: string(u.Role), Disabled: u.Disabled, BreakGlass: u.BreakGlass,
		Created: u.Created.UTC(), LastLogin: api.Time(u.LastLogin)}
}

// Token is a token on the wire, without its secret.
func Token(x auth.Token) api.Token {
	return api.Token{ID: x.ID, Name: x.Name, Role: string(x.Role), Owner: x.Owner,
		Created: x.Created.UTC(), Expires: x.Expires.UTC(), Used: api.Time(x.Used), Revoked: api.Time(x.Revoked), Bound: x.Bound,
		Clusters: answer.Map(x.Clusters, func(c auth.TokenCluster) api.TokenCluster {
			return api.TokenCluster{Name: c.Name, Title: c.Title, Role: string(c.Role), Given: string(c.Given)}
		})}
}

// NewToken is a token to be made, from the wire.
func NewToken(t api.TokenCreate) auth.NewToken {
	n := auth.NewToken{Name: t.Name, Role: auth.Role(t.Role), Expires: t.Expires}
	if t.Clusters != nil {
		n.Clusters = make(map[string]auth.Role, len(t.Clusters))
		for name, role := range t.Clusters {
			n.Clusters[name] = auth.Role(role)
		}
	}
	return n
}

// UserNamed is the account with a name.
func UserNamed(ctx context.Context, from Accounts, who auth.Principal, name string) (api.User, error) {
	all, err := Users(ctx, from, who)
	if err != nil {
		return api.User{}, err
	}
	i := slices.IndexFunc(all, func(u api.User) bool { return u.Name == name })
	if i < 0 {
		return api.User{}, fault.New(fault.NotFound, "There is no user of this name any more.")
	}
	return all[i], nil
}

// issuerID is what an issuer calls somebody who came by OIDC. It stands beside the
// name: two people can have the same name, and one can have several in time. It is ""
// where it says nothing new.
func issuerID(principal, name string) string {
	parts := strings.SplitN(principal, ":", 3)
	if len(parts) != 3 || parts[0] != "oidc" || parts[2] == name {
		return ""
	}
	return sanitize.Truncate(parts[2], 80)
}
