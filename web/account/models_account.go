package account

import (
	"shardboard/web/templates"
)

// Login is the way in.
type Login struct {
	Refused *templates.Refused // more about Problem; nil when there is no more

	Password, OIDC, First, Proxy bool
	ReadOnly                     string // why nobody can sign in here; "" when people can
	Next                         string // a page of ours, or ""
	Name                         string // what was typed before
	Note, Problem                string
}

// First is the form that makes the first admin.
type First struct {
	Key, Name, Problem string
}

// Settings is what somebody keeps about themselves.
type Settings struct {
	ID, Method, From string
	Done, Problem    string
	CanChange        bool // there is a password of ours to change
	Sessions         []SessionRow
	Tokens           []TokenRow
	CanToken         bool // tokens can be made here
	Roles            []templates.Option
	Spans            []templates.Option
	Made             *MadeToken
}

// MadeToken is a token whose secret is shown this once.
type MadeToken struct {
	Name, Secret string
}

// SessionRow is one session.
type SessionRow struct {
	ID, Who, Role, Method, From string
	WhoID                       string // at the issuer, where the name does not tell people apart; else ""
	Created, Used               templates.Moment
	Ends                        string
	Current                     bool
}

// TokenRow is one token.
type TokenRow struct {
	ID, Name, Role, Owner string
	OwnerID               string // as SessionRow.WhoID
	Created, Used         templates.Moment
	Ends                  string
	Ended                 bool // revoked or expired: Ends says which
}

// Users is everybody, for an admin.
type Users struct {
	Done, Problem string
	CanChange     bool
	Ways          string // how people come in here
	Name          string // what was typed before
	Users         []UserRow
	Roles         []templates.Option
	Sessions      []SessionRow
	Tokens        []TokenRow
}

// UserRow is one account.
type UserRow struct {
	Name, URL            string
	Roles                []templates.Option
	Role                 string
	Disabled, BreakGlass bool
	Self                 bool
	Created, LastLogin   templates.Moment
}
