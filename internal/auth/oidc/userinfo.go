package oidc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	coreos "github.com/coreos/go-oidc/v3/oidc"

	"shardboard/internal/auth"
	"shardboard/internal/fault"
)

// userInfo reads the UserInfo endpoint (OpenID Connect Core §5.3) for the person of the ID token;
// claims about anybody else are refused (§5.3.2). The library's function is not used: it does not
// tell whether the answer was signed and puts the whole answer into its errors.
func (i *Issuer) userInfo(ctx context.Context, p *coreos.Provider, access, subject string) (map[string]any, error) {
	ctx, cancel := context.WithTimeout(ctx, userInfoWait)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.UserInfoEndpoint(), nil)
	if err != nil {
		return nil, userInfoFailed(err, "The address of UserInfo in the issuer's discovery document cannot be used.")
	}
	r.Header.Set("Authorization", "Bearer "+access)
	r.Header.Set("Accept", "application/json, application/jwt")
	res, err := i.client.Do(r)
	if err != nil {
		advice := "The issuer's UserInfo endpoint did not answer."
		if errors.Is(err, errRedirect) {
			advice = "The issuer's UserInfo endpoint answers with a redirect, which is not followed."
		}
		return nil, userInfoFailed(withoutURL(err), advice)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, userInfoFailed(
			fmt.Errorf("status %d", res.StatusCode),
			fmt.Sprintf("The issuer's UserInfo endpoint answered with status %d.", res.StatusCode),
		)
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, userInfoFailed(err, "The issuer's UserInfo endpoint stopped in the middle of its answer.")
	}
	var all map[string]any
	if kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); kind == "application/jwt" {
		all, err = i.signedInfo(ctx, p, strings.TrimSpace(string(body)))
		if err != nil {
			return nil, err
		}
	} else if json.Unmarshal(body, &all) != nil {
		return nil, userInfoFailed(errors.New("not a JSON object, or too long"),
			"The issuer's UserInfo endpoint gave no JSON object of at most 1 MiB.")
	}
	if sub, _ := all["sub"].(string); sub != subject {
		return nil, untrusted("userinfo-subject", errors.New("the sub of UserInfo differs or is missing"),
			"UserInfo is about another person than the ID token: the claim sub has to be there and be the same in both.")
	}
	return all, nil
}

// signedInfo returns the claims of a JWT answer after checking the issuer's signature, the audience
// and the expiry. §5.3.2 requires iss and aud, but not exp, which is checked only if present.
func (i *Issuer) signedInfo(ctx context.Context, p *coreos.Provider, raw string) (map[string]any, error) {
	refused := func(err error, advice string) (map[string]any, error) {
		return nil, untrusted("userinfo-signature", err, advice)
	}
	if strings.Count(raw, ".") == 4 {
		return refused(
			errors.New("an encrypted JWT"),
			"UserInfo is encrypted, which is not supported: set the client to signed or plain UserInfo at the issuer.",
		)
	}
	checks := &coreos.Config{ClientID: i.o.ClientID, SupportedSigningAlgs: algorithms(), SkipExpiryCheck: true}
	token, err := p.Verifier(checks).Verify(ctx, raw)
	if err != nil {
		return refused(
			shortened(withoutURL(err)),
			"UserInfo is signed, and the signature, its algorithm or the claims iss and aud are not right.",
		)
	}
	if now := i.o.Now(); token.Expiry.Unix() > 0 && token.Expiry.Before(now) {
		return refused(
			fmt.Errorf("expired at %s", token.Expiry),
			"UserInfo is signed and had expired by this machine's clock. Set the clocks of this machine and of the issuer.",
		)
	}
	var all map[string]any
	if err := token.Claims(&all); err != nil {
		return refused(err, "UserInfo is signed and cannot be read.")
	}
	return all, nil
}

func userInfoFailed(err error, advice string) error {
	return auth.Refuse(
		"userinfo-failed",
		fault.Unavailable,
		fmt.Errorf("ask for UserInfo: %w", err),
		"The sign-in service did not say which groups you are in. Try again in a minute; if this continues, "+
			"tell the administrator of shardboard: "+
			"the log has the cause.",
		advice,
	)
}
