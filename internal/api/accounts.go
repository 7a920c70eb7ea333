package api

import (
	"time"

	"shardboard/internal/message"
)

// User is an account kept by shardboard.
type User struct {
	ID         string     `json:"id"`
	Name       string     `json:"name"`
	Role       string     `json:"role"`
	Disabled   bool       `json:"disabled"`
	BreakGlass bool       `json:"breakGlass"`
	Created    time.Time  `json:"created"`
	LastLogin  *time.Time `json:"lastLogin"` // null: never

	Self bool `json:"-"` // the account of the request
}

// UserCreate is the body of POST users.
type UserCreate struct {
	Name     string `json:"name"`
	Password string `json:"password"`
	Role     string `json:"role"`
}

// UserChange is the body of POST users/{name}; only given fields change.
type UserChange struct {
	Role     *string `json:"role,omitempty"`
	Password *string `json:"password,omitempty"`
	Disabled *bool   `json:"disabled,omitempty"`
}

// Session is a signed-in browser.
type Session struct {
	ID      string    `json:"id"`
	Subject string    `json:"subject"` // principal id
	Name    string    `json:"name"`
	Role    string    `json:"role"`
	Method  string    `json:"method"`
	From    string    `json:"from"`
	Created time.Time `json:"created"`
	Used    time.Time `json:"used"`
	Ends    time.Time `json:"ends"`
	Current bool      `json:"current"` // the session of the request

	IssuerID string `json:"-"` // tells people with the same name apart; "" if there is nothing to add
}

// Token is an API key of a script, without its secret.
type Token struct {
	ID      string     `json:"id"`
	Name    string     `json:"name"`
	Role    string     `json:"role"`
	Owner   string     `json:"owner"` // principal id
	Created time.Time  `json:"created"`
	Expires time.Time  `json:"expires"`
	Used    *time.Time `json:"used"`    // null: never
	Revoked *time.Time `json:"revoked"` // null: not revoked

	Bound    bool           `json:"bound"`    // to Clusters; it may do nothing elsewhere
	Clusters []TokenCluster `json:"clusters"` // of a server of several: those that it is bound to, or all that the caller may see

	OwnerName     string `json:"-"` // "" if Owner says as much
	OwnerIssuerID string `json:"-"` // as Session.IssuerID
	Expired       bool   `json:"-"`
}

// TokenCluster is what a token may do on one cluster of several.
type TokenCluster struct {
	Name  string `json:"name"`
	Role  string `json:"role"`            // that counts now; none: it may not see the cluster
	Given string `json:"given,omitempty"` // of a bound token: the role that it was made with

	Title string `json:"-"`
}

// TokenCreate is the body of POST tokens.
type TokenCreate struct {
	Name     string            `json:"name"`
	Role     string            `json:"role,omitempty"`     // on the server and all clusters; or Clusters
	Clusters map[string]string `json:"clusters,omitempty"` // binds it to clusters: role by name
	Expires  time.Time         `json:"expires"`
}

// TokenCreated is the only answer with a token's secret.
type TokenCreated struct {
	Token
	Secret string `json:"secret"`
}

// SignIn is how people can sign in. It is not in JSON.
type SignIn struct {
	Password, OIDC, Proxy bool
	NoUserYet             bool            // the first admin is made by a link on the server's output
	Closed                message.Message // why nobody can sign in now; zero if people can
}

// Settings is what somebody can see and change about themselves. In JSON these are three answers: me,
// sessions and tokens.
type Settings struct {
	Me
	CanChangePassword bool // it is a password of shardboard's own
	CanAddToken       bool // sign-in is on
	Sessions          []Session
	Tokens            []Token
}

// Everybody is all accounts, sessions and tokens. In JSON these are three lists.
type Everybody struct {
	CanChange bool // sign-in is on
	Users     []User
	Sessions  []Session
	Tokens    []Token
}
