package oidc

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"

	coreos "github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"shardboard/internal/auth"
	"shardboard/internal/fault"
)

func untrusted(code string, err error, advice string) error {
	return auth.Refuse(
		code,
		fault.Forbidden,
		err,
		"The answer of the sign-in service was refused. Start again; if it happens each time, tell the administrator of shardboard: the log has "+
			"the cause.",
		advice,
	)
}

// Exchange turns a callback into verified claims.
func (i *Issuer) Exchange(ctx context.Context, c auth.Callback, nonce, verifier string) (auth.Claims, error) {
	ctx, cancel := context.WithTimeout(coreos.ClientContext(ctx, i.client), askWait)
	defer cancel()
	p, err := i.provider(ctx)
	if err != nil {
		return auth.Claims{}, err
	}
	if err := i.checkCallback(p, c.Issuer); err != nil {
		return auth.Claims{}, err
	}
	token, err := i.redeem(ctx, p, c.Code, verifier)
	if err != nil {
		return auth.Claims{}, exchangeFailed(err)
	}
	raw, _ := token.Extra("id_token").(string)
	if raw == "" {
		return auth.Claims{}, untrusted("no-id-token", errors.New("there is no id_token in the answer"),
			"The issuer's token endpoint gave no ID token. Is the client registered for OpenID Connect, and the scope openid allowed?")
	}
	checks := &coreos.Config{ClientID: i.o.ClientID, SupportedSigningAlgs: algorithms(), Now: i.o.Now}
	id, err := p.Verifier(checks).Verify(ctx, raw)
	if err != nil {
		return auth.Claims{}, i.idTokenFailed(raw, err)
	}
	if subtle.ConstantTimeCompare([]byte(id.Nonce), []byte(nonce)) != 1 {
		return auth.Claims{}, untrusted("nonce", errors.New("the nonce is another attempt's"),
			"The ID token belongs to another attempt to sign in: the issuer has to put the nonce of the request into it.")
	}
	var all map[string]any
	if err := id.Claims(&all); err != nil {
		return auth.Claims{}, untrusted("id-token", fmt.Errorf("read claims: %w", err), "The claims of the ID token cannot be read.")
	}
	if azp, there := all["azp"]; (there || len(id.Audience) > 1) && azp != i.o.ClientID {
		return auth.Claims{}, untrusted("other-client", errors.New("the token was made for another client"),
			"The ID token was made for another client (azp). --oidc-client-id has to be the client that people sign in to.")
	}
	if id.AccessTokenHash != "" {
		if err := id.VerifyAccessToken(token.AccessToken); err != nil {
			return auth.Claims{}, untrusted("access-token", fmt.Errorf("compare at_hash: %w", err),
				"The access token is not the one that the issuer gave together with the ID token (at_hash).")
		}
	}
	granted, _ := token.Extra("scope").(string)
	return i.claims(ctx, p, id, all, token.AccessToken, i.notGranted(granted))
}

// checkCallback compares the issuer that the callback names, so that a code of another issuer is not
// sent to this one (RFC 9207). An issuer that announces the parameter has to send it.
func (i *Issuer) checkCallback(p *coreos.Provider, issuer string) error {
	var doc struct {
		Sends bool `json:"authorization_response_iss_parameter_supported"`
	}
	_ = p.Claims(&doc) // a value that is no truth value counts as absent
	if issuer == i.o.Issuer || issuer == "" && !doc.Sends {
		return nil
	}
	return untrusted("other-issuer", errors.New("the callback names another issuer, or none"),
		"The browser came back with the name of another issuer than --oidc-issuer (iss), or with none although the issuer's discovery "+
			"document announces it. Names have to be equal to the letter, a slash at the end too.")
}

// exchangeFailed explains why the token endpoint gave no token. The error text may contain what was
// sent, even the client's secret, so only standard error codes are passed on.
func exchangeFailed(err error) error {
	var refused *oauth2.RetrieveError
	if !errors.As(err, &refused) || refused.Response == nil {
		if advice := unreachableAdvice(err); advice != "" {
			return unavailable("issuer-unreachable", fmt.Errorf("exchange code: %w", withoutURL(err)), advice)
		}
		return unavailable(
			"token-answer",
			fmt.Errorf("exchange code: %w", shortened(err)),
			"The issuer's token endpoint gave an answer that is no token.",
		)
	}
	status := refused.Response.StatusCode
	cause := fmt.Errorf("exchange code: status %d, error %q", status, knownCode(refused.ErrorCode))
	switch {
	case refused.ErrorCode == "invalid_client" || refused.ErrorCode == "unauthorized_client" || status == http.StatusUnauthorized:
		return auth.Refuse(
			"client-refused",
			fault.Unavailable,
			cause,
			"The issuer does not accept shardboard. You cannot fix this yourself; tell the administrator of shardboard.",
			fmt.Sprintf(
				"The issuer's token endpoint refused the client (status %d, %s). Check --oidc-client-id, and that --oidc-client-secret-file has "+
					"the client's present secret.",
				status,
				knownCode(refused.ErrorCode),
			),
		)
	case status >= http.StatusInternalServerError:
		return unavailable(
			"issuer-unreachable",
			cause,
			fmt.Sprintf("The issuer's token endpoint failed with status %d; its log says why.", status),
		)
	case refused.ErrorCode == "invalid_grant":
		return untrusted(
			"code-refused",
			cause,
			"The issuer refused the code (invalid_grant): it was used before, is too old, or was made for another redirect address. "+
				"The address registered at the issuer has to be --public-url with "+auth.CallbackPath+" after it.",
		)
	}
	return untrusted(
		"token-refused",
		cause,
		fmt.Sprintf("The issuer's token endpoint refused the exchange of the code with status %d, %s.", status, knownCode(refused.ErrorCode)),
	)
}

// knownCode is an error code of RFC 6749 §5.2, or a text that says it is not one.
func knownCode(code string) string {
	switch code {
	case "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type", "invalid_scope":
		return code
	case "":
		return "without an error code"
	}
	return "an error that is not in the standard"
}
