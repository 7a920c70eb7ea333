package auth

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"golang.org/x/time/rate"

	"shardboard/internal/fault"
	"shardboard/internal/store"
	"shardboard/internal/store/audit"
)

// ErrNobody is what Identify and Check give when nobody is signed in: no proof,
// or one that is wrong, expired, revoked or of a disabled account. Which of them
// is not told.
var ErrNobody = fault.New(fault.Forbidden, "You are not signed in, or your session has ended. Sign in again.")

// ErrCredentials is what SignIn gives for a wrong name or password alike.
var ErrCredentials = fault.New(fault.Forbidden, "The name or the password is wrong, or the account is disabled.")

// ErrLink is what ClaimFirst gives for a link that is wrong, used or too old.
var ErrLink = fault.New(fault.Forbidden, "This link is wrong, used already or older than an hour. Restart shardboard for a new one while it has no users.")

// ErrNoAccounts is what changes of users and tokens give where sign-in is off:
// what anybody on this machine made then would open the door after it is on.
var ErrNoAccounts = fault.New(fault.Conflict, "Sign-in is off here, so users and tokens cannot be changed. They can with shardboard serve --auth local.")

// Service knows who is asking. Safe for concurrent use.
type Service struct {
	o      Options
	people peopleLock
	hashes *hashes
	limits *limits
	ended  *ended
	first  firstLink
	seen   *sightings
	causes *rate.Limiter // of lines in the log that say why an issuer's answer was refused
}

// Options are what a Service is made of.
type Options struct {
	Store     store.Store
	Log       *slog.Logger     // nil discards
	Now       func() time.Time // nil is time.Now
	Random    io.Reader        // nil is crypto/rand
	Mode      Mode             // required
	PublicURL string           // scheme and host as browsers use them; "" while it is loopback
	Secure    bool             // browsers come by TLS: cookies are Secure and carry the __Host- prefix
	Idle      time.Duration    // a session ends this long after its last use; 0 is 8 hours
	Max       time.Duration    // and this long after it began; 0 is 7 days
	Issuer    Issuer           // with ModeOIDC
	Roles     map[string]Role  // group at the issuer to role; the greatest counts
	Proxy     ProxyOptions     // with ModeProxy
	Forwarded []netip.Prefix   // addresses whose X-Forwarded-For is believed, for ClientAddr only
	Cost      Cost             // of a password's hash; zero is DefaultCost
	Leaked    *Leaked          // passwords that are not taken; nil: none is known
	Refusals  *audit.Refusals  // counts attempts of nobody known; nil makes one, of which only the first of a kind is recorded: nobody runs it
}

// ProxyOptions say whose headers are believed.
type ProxyOptions struct {
	Header     string         // holds the name: "X-Forwarded-User"
	RoleHeader string         // holds the role's name; "" gives everybody Role
	Role       Role           // "" is Viewer
	CIDRs      []netip.Prefix // where the proxy connects from; never empty with ModeProxy
}

// Offers is what a sign-in page can offer.
type Offers struct {
	Password bool // a form for name and password
	OIDC     bool // a button for /login/oidc
	First    bool // there is no user yet: the link is on the server's standard output
	Off      bool // everybody is signed in already (none, demo)
	ReadOnly bool // another process owns the data: nobody can sign in here
}

// Credentials are one attempt to sign in.
type Credentials struct {
	Name     string
	Password string
	From     string // ClientAddr of the request
	Session  string // id of the browser's session so far, which ends; "" if none
}

// First is an attempt to become the first admin.
type First struct {
	Secret   string // "key" of the link's query
	Name     string
	Password string
	From     string
}

// Session is who is in, where and until when. It has no secret.
type Session struct {
	ID      string
	Subject string // principal id
	Name    string
	Role    Role
	Method  Method
	From    string
	Created time.Time
	Used    time.Time // to the minute
	Ends    time.Time // at the latest
	Current bool      // it is the asker's own
}

// User is an account of ours.
type User struct {
	ID         string
	Name       string
	Role       Role
	Disabled   bool
	BreakGlass bool
	Created    time.Time
	LastLogin  time.Time // zero: never
}

// NewUser is what CreateUser needs.
type NewUser struct {
	Name       string
	Password   string
	Role       Role
	BreakGlass bool // for when nothing else works; there is at most one, always Admin
}

// Token is a key of a script. Its secret is shown once, by CreateToken.
type Token struct {
	ID    string
	Name  string
	Role  Role
	Owner string // principal id
	// OwnerName is for people; "" where Owner has an account here or is not known.
	OwnerName string
	Created   time.Time
	Expires   time.Time
	Used      time.Time // to the minute; zero: never
	Revoked   time.Time // zero: it is not
}

// NewToken is what CreateToken needs.
type NewToken struct {
	Name    string
	Role    Role      // not more than the maker's own
	Expires time.Time // within a year
}

// TooMany says that there were too many attempts and how long to wait. It is a
// fault.Unavailable with a sentence; HTTP says 429 with Retry-After.
type TooMany struct{ Wait time.Duration }

// Issuer signs people in somewhere else. internal/auth/oidc is the one that
// there is.
type Issuer interface {
	// Address is where the browser goes to sign in.
	Address(ctx context.Context, state, nonce, verifier string) (string, error)
	// Exchange turns the code of the answer into who it is, after every check
	// that the issuer's token needs. A refusal is a *Refusal; when the ID token
	// was good and something after it was not, the claims that come with the
	// refusal say who it is about.
	Exchange(ctx context.Context, code, nonce, verifier string) (Claims, error)
}

// Claims are what an issuer says of somebody. Hostile text.
type Claims struct {
	Issuer, Subject string
	Name            string // for people; "" when there was none that can be shown
	Groups          []string
	GroupsClaim     string // where the groups were looked for
	OneText         bool   // the claim was one text, not a list
	Seen            ClaimNames
}

// surface is the whole of what the web uses, in one place to read.
type surface interface {
	Mode() Mode
	Offers(ctx context.Context) (Offers, error)
	ClientAddr(r *http.Request) string // without port; believes X-Forwarded-For of known proxies only

	// Identify: bearer token, else session cookie, else trusted proxy header,
	// else none/demo. ErrNobody; *TooMany after many wrong tokens. After a change
	// of the account's role it gives w the cookie of another session.
	Identify(w http.ResponseWriter, r *http.Request) (Principal, error)
	// Check is for sockets, at least every 60 s: ErrNobody when p's session or
	// token ended or its role is another now.
	Check(ctx context.Context, p Principal) error
	// Ended is closed when p's session or token ends in this process; nil (never)
	// for who has neither. Take it first, then Check once: nothing is missed.
	Ended(p Principal) <-chan struct{}

	// SignIn: ErrCredentials, *TooMany, *Busy, fault.Invalid (blank or too long).
	SignIn(ctx context.Context, c Credentials) (*http.Cookie, Principal, error)
	// SignOut ends p's session and gives the cookie that removes the secret.
	SignOut(ctx context.Context, p Principal) (*http.Cookie, error)
	// ClaimFirst makes the first admin and signs in: ErrLink, *TooMany,
	// fault.Invalid (name or password does not do).
	ClaimFirst(ctx context.Context, f First) (*http.Cookie, Principal, error)
	// StartOIDC sets a cookie and gives the address to lead to. The route is
	// POST /login/oidc, so that it takes somebody's click.
	StartOIDC(w http.ResponseWriter, r *http.Request, next string) (to string, err error)
	// FinishOIDC checks GET /login/oidc/callback, sets the session's cookie and
	// gives the local path to redirect to.
	FinishOIDC(w http.ResponseWriter, r *http.Request) (to string, err error)

	// Sessions are by's own; an admin sees everybody's.
	Sessions(ctx context.Context, by Principal) ([]Session, error)
	// Revoke ends one of those; fault.NotFound for any other.
	Revoke(ctx context.Context, by Principal, session string) error

	// Users and changes of them need Admin (fault.Forbidden). Names are unique
	// for ever. Changes end the sessions of whom they are about; that of a role
	// has them rotated at their next request.
	Users(ctx context.Context, by Principal) ([]User, error)
	CreateUser(ctx context.Context, by Principal, u NewUser) (User, error)
	SetPassword(ctx context.Context, by Principal, name, password string) error
	SetRole(ctx context.Context, by Principal, name string, role Role) error
	DisableUser(ctx context.Context, by Principal, name string) error
	EnableUser(ctx context.Context, by Principal, name string) error
	// ChangePassword is for everybody's own (local accounts): the present one is
	// asked for; all other sessions of the account end.
	ChangePassword(ctx context.Context, by Principal, present, password string) error

	// Tokens are by's own; an admin sees everybody's, a token below admin itself.
	Tokens(ctx context.Context, by Principal) ([]Token, error)
	CreateToken(ctx context.Context, by Principal, t NewToken) (secret string, made Token, err error)
	RevokeToken(ctx context.Context, by Principal, id string) error
}

var _ surface = (*Service)(nil)
