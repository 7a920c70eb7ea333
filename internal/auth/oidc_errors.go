package auth

import (
	"fmt"
	"strings"

	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
)

// Errors of the callback that are found before the issuer is asked.
var (
	errFlow = fault.New(
		fault.Forbidden,
		"This sign-in was not started in this browser, was started more than ten minutes ago, or is over. Start again.",
	)

	flowAdvice = "If this happens to everybody: people must open shardboard under --public-url, because the cookie of the attempt " +
		"belongs to that host name, and browsers must keep cookies."
)

// flowRefusal refuses a callback that does not belong to an attempt of this browser.
func flowRefusal(code string) error { return &Refusal{Code: code, Advice: flowAdvice, fault: errFlow} }

// issuerErrors are the errors with which an issuer can end an attempt (RFC 6749 §4.1.2.1, OpenID
// Connect Core §3.1.2.6).
var issuerErrors = map[string]struct {
	kind         fault.Kind
	text, advice string
}{
	"access_denied": {
		fault.Forbidden,
		"You were not signed in: the sign-in was cancelled, or the issuer does not let you use shardboard. Try again, or ask " +
			"the administrator of the issuer.",
		"The issuer answered access_denied: the person cancelled, refused consent, or is not assigned to this client. The issuer's log " +
			"says which.",
	},
	"invalid_scope": {
		fault.Forbidden,
		"The issuer refused what shardboard asks for. You cannot fix this yourself; tell the administrator of shardboard.",
		"The issuer answered invalid_scope: it does not know or does not allow one of --oidc-scopes. Leave that scope out, or allow it " +
			"for this client at the issuer.",
	},
	"unauthorized_client": {
		fault.Forbidden,
		"The issuer does not accept shardboard. You cannot fix this yourself; tell the administrator of shardboard.",
		"The issuer answered unauthorized_client: allow this client the authorization code flow.",
	},
	"unsupported_response_type": {
		fault.Forbidden,
		"The issuer does not accept shardboard. You cannot fix this yourself; tell the administrator of shardboard.",
		"The issuer answered unsupported_response_type: it has to offer the authorization code flow (response type code).",
	},
	"invalid_request": {
		fault.Forbidden,
		"The issuer did not accept the request. Start again; if it happens each time, tell the administrator of shardboard.",
		"The issuer answered invalid_request. Its log says which parameter; shardboard sends the authorization code flow with PKCE " +
			"(S256), state and nonce.",
	},
	"login_required":             interactionNeeded,
	"interaction_required":       interactionNeeded,
	"account_selection_required": interactionNeeded,
	"consent_required":           interactionNeeded,
	"server_error":               issuerFailed,
	"temporarily_unavailable":    issuerFailed,
}

var (
	interactionNeeded = refusalText{
		fault.Forbidden,
		"The issuer needs something from you first: a sign-in, a choice of account or your consent. Start again and finish what it asks for.",
		"The issuer ended the attempt because the person had not finished what it asks for.",
	}
	issuerFailed = refusalText{fault.Unavailable, "The issuer has a problem of its own and did not sign you in. Try again in a minute.",
		"The issuer answered that it failed; its log says why."}
)

type refusalText = struct {
	kind         fault.Kind
	text, advice string
}

// maxQuoted bounds, in bytes, what the log quotes of an address.
const maxQuoted = 200

// refuseIssuerError is the refusal for the issuer's error. The description never reaches a page, and
// the code only if the standard defines it: both are part of an address that anybody can write.
func refuseIssuerError(code, description string) error {
	cause := fmt.Errorf("the issuer answered error %q, %q", sanitize.Truncate(code, maxQuoted), sanitize.Truncate(description, maxQuoted))
	if w, ok := issuerErrors[code]; ok {
		return Refuse("issuer-"+strings.ReplaceAll(code, "_", "-"), w.kind, cause, w.text, w.advice)
	}
	return Refuse(
		"issuer-refused",
		fault.Forbidden,
		cause,
		"The issuer did not sign you in. Its log says why; try again, or ask the administrator of the issuer.",
		"The issuer answered with an error that is not one of OpenID Connect's; shardboard's log has it.",
	)
}
