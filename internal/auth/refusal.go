package auth

import (
	"strings"

	"shardboard/internal/fault"
)

// Refusal is why a sign-in by OIDC was refused. It has a sentence for the person
// who tried, one for whoever runs shardboard, and the names of the claims that
// came. Values of claims are in none of them: a refused sign-in must not copy
// somebody's personal data to a page, the log or the audit record.
type Refusal struct {
	Code   string // for the audit record and the log, like "groups-missing"
	Advice string // what whoever runs shardboard has to change or to look at
	Claims ClaimNames
	why    *fault.Error
}

// ClaimNames are the names of the claims that an issuer sent, nested ones as
// paths with dots. They are sorted, bounded in number and length, and printable.
type ClaimNames struct {
	IDToken  []string
	UserInfo []string
}

// Refuse makes a refusal. cause is for the log and may be nil.
func Refuse(code string, kind fault.Kind, cause error, text, advice string) *Refusal {
	return &Refusal{Code: code, Advice: advice, why: &fault.Error{Kind: kind, Text: text, Err: cause}}
}

// Error is for logs.
func (r *Refusal) Error() string { return r.Code + ": " + r.why.Error() }

// Unwrap gives package fault the kind and the sentence for the person.
func (r *Refusal) Unwrap() error { return r.why }

// details are what the audit record keeps of a refusal besides its code: names
// and values in turn.
func (r *Refusal) details() (pairs []string) {
	if len(r.Claims.IDToken) > 0 {
		pairs = append(pairs, "idTokenClaims", strings.Join(r.Claims.IDToken, " "))
	}
	if len(r.Claims.UserInfo) > 0 {
		pairs = append(pairs, "userInfoClaims", strings.Join(r.Claims.UserInfo, " "))
	}
	return pairs
}
