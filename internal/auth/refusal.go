package auth

import (
	"strings"

	"shardboard/internal/fault"
)

// Refusal is why a sign-in by OIDC was refused. It has a sentence for the user, advice for the
// operator of shardboard and the names of the claims that came. It never contains values of claims:
// a refused sign-in must not copy personal data to a page, the log or the audit record.
type Refusal struct {
	Code   string // for the audit record and the log, like "groups-missing"
	Advice string // what the operator of shardboard should change or check
	Claims ClaimNames
	fault  *fault.Error
}

// ClaimNames are the names of the claims that an issuer sent, nested ones as paths with dots. They
// are sorted, bounded in number and length, and printable.
type ClaimNames struct {
	IDToken  []string
	UserInfo []string
}

// Refuse makes a Refusal. cause is for the log and may be nil.
func Refuse(code string, kind fault.Kind, cause error, text, advice string) *Refusal {
	return &Refusal{Code: code, Advice: advice, fault: &fault.Error{Kind: kind, Text: text, Err: cause}}
}

// Error is the text for logs.
func (r *Refusal) Error() string { return r.Code + ": " + r.fault.Error() }

// Unwrap gives package fault the kind and the sentence for the user.
func (r *Refusal) Unwrap() error { return r.fault }

// details are the details that the audit record keeps besides the code: names and values in turn.
func (r *Refusal) details() (pairs []string) {
	if len(r.Claims.IDToken) > 0 {
		pairs = append(pairs, "idTokenClaims", strings.Join(r.Claims.IDToken, " "))
	}
	if len(r.Claims.UserInfo) > 0 {
		pairs = append(pairs, "userInfoClaims", strings.Join(r.Claims.UserInfo, " "))
	}
	return pairs
}
