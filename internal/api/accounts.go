package api

import "time"

// User is an account of shardboard's own.
type User struct {
	ID         string     `json:"id"`
	Name       string     `json:"name"`
	Role       string     `json:"role"`
	Disabled   bool       `json:"disabled"`
	BreakGlass bool       `json:"breakGlass"`
	Created    time.Time  `json:"created"`
	LastLogin  *time.Time `json:"lastLogin"` // null: never
}

// UserCreate is the body of POST users.
type UserCreate struct {
	Name     string `json:"name"`
	Password string `json:"password"`
	Role     string `json:"role"`
}

// UserChange is the body of POST users/{name}: what is given is changed.
type UserChange struct {
	Role     *string `json:"role,omitempty"`
	Password *string `json:"password,omitempty"`
	Disabled *bool   `json:"disabled,omitempty"`
}

// Session is who is in, where and until when.
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
	Current bool      `json:"current"` // it is the asker's own
}

// Token is a key of a script, without its secret.
type Token struct {
	ID      string     `json:"id"`
	Name    string     `json:"name"`
	Role    string     `json:"role"`
	Owner   string     `json:"owner"` // principal id
	Created time.Time  `json:"created"`
	Expires time.Time  `json:"expires"`
	Used    *time.Time `json:"used"`    // null: never
	Revoked *time.Time `json:"revoked"` // null: it is not
}

// TokenCreate is the body of POST tokens.
type TokenCreate struct {
	Name    string    `json:"name"`
	Role    string    `json:"role"`
	Expires time.Time `json:"expires"`
}

// TokenCreated is the only answer that holds a token's secret.
type TokenCreated struct {
	Token
	Secret string `json:"secret"`
}
