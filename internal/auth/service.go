package auth

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"shardboard/internal/fault"
	"shardboard/internal/store"
	"shardboard/internal/store/audit"
)

// ErrNobody is returned by Identify and Check when nobody is signed in: there is no credential, or
// it is wrong, expired, revoked or of a disabled account. It does not say which.
var ErrNobody = fault.New(fault.Forbidden, "You are not signed in, or your session has ended. Sign in again.")

// ErrCredentials is returned by SignIn for a wrong name and for a wrong password alike.
var ErrCredentials = fault.New(fault.Forbidden, "The name or the password is wrong, or the account is disabled.")

// ErrLink is returned by ClaimFirst for a link that is wrong, used or expired.
var ErrLink = fault.New(
	fault.Forbidden,
	"This link is wrong, used already or older than an hour. Restart shardboard for a new one while it has no users.",
)

// ErrNoAccounts is returned by changes of users and tokens while sign-in is off: an account that
// any visitor creates now would still work after sign-in is switched on.
var ErrNoAccounts = fault.New(
	fault.Conflict,
	"Sign-in is off here, so users and tokens cannot be changed. They can with shardboard serve --auth local.",
)

// Service authenticates requests and manages accounts, sessions and tokens. Safe for concurrent
// use.
type Service struct {
	o                Options
	root             string // path of the public URL, "" without one
	people           peopleLock
	hashes           *hashes
	limits           *limits
	endSignals       *endSignals
	first            firstLink
	unreadHops       rate.Sometimes // warnings of addresses that proxies send
	adminNoted       atomic.Bool    // the store knows that somebody has been admin
	recentProxyUsers *recentSignIns
	causes           *rate.Limiter // limits log lines about refused answers of the issuer
}

// Options configure a Service.
type Options struct {
	Store     store.Store
	Log       *slog.Logger     // nil discards
	Now       func() time.Time // nil is time.Now
	Random    io.Reader        // nil is crypto/rand
	Mode      Mode             // required
	PublicURL string           // address of the server as browsers use it, with its path if it has one; "" for loopback
	Secure    bool             // browsers connect by TLS: cookies are Secure, and their names have a prefix
	Idle      time.Duration    // a session ends this long after its last use; 0 is 8 hours
	Max       time.Duration    // and this long after it began at the latest; 0 is 7 days
	Apart     time.Duration    // how long whoever made an account, or set its password or role, may be that person; 0: never
	Issuer    Issuer           // with ModeOIDC
	Roles     map[string]Role  // role by group at the issuer; the greatest role counts
	// Clusters are those of a server of several, as they are configured now; nil: the server has one.
	Clusters  func() []NamedRoles
	Proxy     ProxyOptions    // with ModeProxy
	Forwarded []netip.Prefix  // proxies whose X-Forwarded-For is trusted, for ClientAddr only
	FirstLink bool            // FirstLink makes a link also if somebody has been admin, while there is no account
	EndIssuer bool            // signing out here signs out at the issuer too
	FlowKey   []byte          // signs attempts at the issuer, for all replicas; nil: one of this process
	Cost      Cost            // of hashing a password; zero is DefaultCost
	Leaked    *Leaked         // passwords that are rejected; nil for none
	Refusals  *audit.Refusals // counts anonymous attempts; nil makes one that nobody runs, so only the first attempt of a kind is recorded
}

// ProxyOptions say which headers name the user and from which addresses they are trusted.
type ProxyOptions struct {
	Header     string         // has the user's name, like "X-Forwarded-User"
	RoleHeader string         // has the user's role; "" gives everybody Role
	Role       Role           // "" is Viewer
	CIDRs      []netip.Prefix // addresses the proxy connects from; never empty with ModeProxy
}

// Offers is what a sign-in page can offer.
type Offers struct {
	Password bool // a form for name and password
	OIDC     bool // a button for /login/oidc
	First    bool // nobody has been admin yet: the link is on the server's standard output
	Off      bool // sign-in is off (none, demo)
	ReadOnly bool // another process owns the data, so nobody can sign in here
}

// Credentials are a name and password to sign in with.
type Credentials struct {
	Name     string
	Password string
	From     string // ClientAddr of the request
	Session  string // id of the browser's current session, which ends; "" if none
}

// First is a request to create the first admin.
type First struct {
	Secret   string // "key" of the link's query
	Name     string
	Password string
	From     string
}

// Session is a signed-in browser. It does not contain the secret.
type Session struct {
	ID      string
	Subject string // principal id
	Name    string
	Role    Role
	Method  Method
	From    string
	Created time.Time
	Used    time.Time // to the minute
	Ends    time.Time // latest end
	Current bool      // the session of the request
}

// User is an account kept here.
type User struct {
	ID         string
	Name       string
	Role       Role
	Disabled   bool
	BreakGlass bool
	Created    time.Time
	LastLogin  time.Time // zero: never
}

// NewUser is the input of CreateUser.
type NewUser struct {
	Name       string
	Password   string
	Role       Role
	BreakGlass bool // the emergency account; at most one, always Admin
}

// Token is an API key of a script. CreateToken shows its secret once.
type Token struct {
	ID    string
	Name  string
	Role  Role   // on the server; ClustersOnly of one that is bound to clusters
	Owner string // principal id
	// OwnerName is for display; "" when the owner has an account here or its name is unknown.
	OwnerName string
	Created   time.Time
	Expires   time.Time
	Used      time.Time // to the minute; zero: never
	Revoked   time.Time // zero: not revoked
	Bound     bool      // to Clusters; else these are all that the reader may see
	Clusters  []TokenCluster
}

// TokenCluster is what a token may do on one cluster of several.
type TokenCluster struct {
	Name, Title string
	Given       Role // of a bound token: the role that it was made with
	Role        Role // that counts now: no greater than that of its owner; ClustersOnly if it has none there
}

// NewToken is the input of CreateToken.
type NewToken struct {
	Name     string
	Role     Role            // not greater than the creator's own; "" with Clusters
	Clusters map[string]Role // binds it to these clusters, each with a role no greater than the creator's there
	Expires  time.Time       // within a year
}

// TooMany means that there were too many attempts and how long to wait. It is a fault.Unavailable
// with a sentence; HTTP answers 429 with Retry-After.
type TooMany struct{ Wait time.Duration }

// Issuer signs people in at another system. internal/auth/oidc implements it.
type Issuer interface {
	// Address is where the browser is sent to sign in.
	Address(ctx context.Context, state, nonce, verifier string) (string, error)
	// Exchange turns the callback into verified claims. A refusal is a *Refusal; when
	// the ID token was valid and a later step failed, the returned claims name the person it is
	// about.
	Exchange(ctx context.Context, c Callback, nonce, verifier string) (Claims, error)
	// EndSession is where the browser is sent to sign out there too, and from there back; "" if the issuer has no such
	// address.
	EndSession(ctx context.Context, back string) (string, error)
}

// Callback are the parameters with which the issuer sent the browser back. Untrusted text.
type Callback struct {
	Code   string
	Issuer string // the parameter iss (RFC 9207); "" without it
}

// Claims are what an issuer says about a person. Untrusted text.
type Claims struct {
	Issuer, Subject string
	Name            string // for display; "" without a displayable name
	Groups          []string
	GroupsClaim     string // claim that should contain the groups
	OneText         bool   // the claim was a string, not a list
	Seen            ClaimNames
}

// webMethods lists all methods that package web uses, with their errors.
type webMethods interface {
	Mode() Mode
	Offers(ctx context.Context) (Offers, error)
	ClientAddr(r *http.Request) string // without port; trusts X-Forwarded-For of known proxies only

	// Identify tries a bearer token, then the session cookie, then the trusted proxy's header, then
	// the modes none and demo. It returns ErrNobody, or *TooMany after many wrong tokens. After a
	// change of the account's role it sets the cookie of a new session on w.
	Identify(w http.ResponseWriter, r *http.Request) (Principal, error)
	// Check is for open WebSockets, at least every 60 s: ErrNobody when p's session or token ended
	// or its role changed.
	Check(ctx context.Context, p Principal) error
	// AfterEnd calls f once, which must not wait, when p's session or token ends in this process
	// before stop is called; never for a principal with neither. Call it first and then Check once,
	// so that no end is missed.
	AfterEnd(p Principal, f func()) (stop func())

	// SignIn returns ErrCredentials, *TooMany, *Busy or fault.Invalid (blank or too long).
	SignIn(ctx context.Context, c Credentials) (*http.Cookie, Principal, error)
	// SignOut ends p's session and returns a cookie that removes the secret.
	SignOut(ctx context.Context, p Principal) (*http.Cookie, error)
	// ClaimFirst creates the first admin and signs them in: ErrLink, *TooMany, or fault.Invalid
	// when the name or password is rejected.
	ClaimFirst(ctx context.Context, f First) (*http.Cookie, Principal, error)
	// StartOIDC sets the flow cookie and returns the address to redirect to. The route is POST
	// /login/oidc, so that a link on another site cannot start a sign-in.
	StartOIDC(w http.ResponseWriter, r *http.Request, next string) (to string, err error)
	// FinishOIDC checks GET /login/oidc/callback, sets the session cookie and returns the local
	// path to redirect to.
	FinishOIDC(w http.ResponseWriter, r *http.Request) (to string, err error)

	// Sessions returns by's own sessions; all sessions for an admin.
	Sessions(ctx context.Context, by Principal) ([]Session, error)
	// Revoke ends a session that by can see; fault.NotFound for any other.
	Revoke(ctx context.Context, by Principal, session string) error

	// Users and changes of users need Admin (fault.Forbidden). Names are unique, also among
	// disabled accounts. A change ends the sessions of the user; a change of role rotates them at
	// their next request.
	Users(ctx context.Context, by Principal) ([]User, error)
	CreateUser(ctx context.Context, by Principal, u NewUser) (User, error)
	SetPassword(ctx context.Context, by Principal, name, password string) error
	SetRole(ctx context.Context, by Principal, name string, role Role) error
	DisableUser(ctx context.Context, by Principal, name string) error
	EnableUser(ctx context.Context, by Principal, name string) error
	// ChangePassword changes by's own password (local accounts). It needs the current password and
	// ends all other sessions of the account.
	ChangePassword(ctx context.Context, by Principal, present, password string) (*http.Cookie, error)

	// Tokens returns by's own tokens; all tokens for an admin; itself for a token below admin.
	Tokens(ctx context.Context, by Principal) ([]Token, error)
	CreateToken(ctx context.Context, by Principal, t NewToken) (secret string, made Token, err error)
	RevokeToken(ctx context.Context, by Principal, id string) error
}

var _ webMethods = (*Service)(nil)
