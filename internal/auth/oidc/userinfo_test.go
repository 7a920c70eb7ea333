package oidc

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
)

// expectRefusal checks that err is a refusal with this code.
func expectRefusal(t *testing.T, err error, code string) *auth.Refusal {
	t.Helper()
	var r *auth.Refusal
	if !errors.As(err, &r) || r.Code != code || r.Advice == "" || fault.Text(err) == "" {
		t.Fatalf("refused as %v, expected %q", err, code)
	}
	return r
}

func TestGroupsAndNameAreReadFromUserInfo(t *testing.T) {
	p := newProvider(t)
	p.without = []string{"groups", "preferred_username"}
	p.info = map[string]any{"sub": "sub-1", "preferred_username": "anna", "groups": []string{"ops", "staff"}}
	c, err := p.signIn(t, p.issuer(t))
	if err != nil || c.Subject != "sub-1" || c.Name != "anna" || strings.Join(c.Groups, ",") != "ops,staff" {
		t.Errorf("unexpected claims %+v, error %v", c, err)
	}
	if !slices.Contains(c.Seen.UserInfo, "groups") || slices.Contains(c.Seen.IDToken, "groups") || !slices.Contains(c.Seen.IDToken, "nonce") {
		t.Errorf("unexpected claim names: %+v", c.Seen)
	}
}

func TestUserInfoIsRequestedOnlyWhenAClaimIsMissing(t *testing.T) {
	for name, tc := range map[string]struct {
		without  []string
		claims   map[string]any
		requests int
	}{
		"nothing is missing": {nil, nil, 0},
		"the groups":         {[]string{"groups"}, nil, 1},
		"the name":           {[]string{"preferred_username"}, map[string]any{"email": "a@b.example"}, 1},
		"null groups":        {nil, map[string]any{"groups": nil}, 1},
		"an empty list":      {nil, map[string]any{"groups": []string{}}, 0}, // an empty list is an answer
	} {
		p := newProvider(t)
		p.without, p.claims = tc.without, tc.claims
		p.info = map[string]any{"sub": "sub-1", "preferred_username": "info", "groups": []string{"info"}}
		if _, err := p.signIn(t, p.issuer(t)); err != nil || p.infos != tc.requests {
			t.Errorf("%s: UserInfo was requested %d times, expected %d, %v", name, p.infos, tc.requests, err)
		}
	}
}

func TestTheIDTokenWinsOverUserInfo(t *testing.T) {
	p := newProvider(t)
	p.without = []string{"preferred_username"}
	p.claims = map[string]any{"email": "token@b.example"}
	p.info = map[string]any{"sub": "sub-1", "email": "info@b.example", "groups": []string{"dba"}}
	c, err := p.signIn(t, p.issuer(t))
	if err != nil || c.Name != "token@b.example" || strings.Join(c.Groups, ",") != "ops,staff" {
		t.Errorf("unexpected claims %+v, error %v", c, err)
	}
}

func TestUserInfoOfAnotherPersonIsRefused(t *testing.T) {
	for _, missing := range []string{"groups", "preferred_username"} {
		for name, sub := range map[string]any{"another": "sub-2", "none": nil, "longer": "sub-1 ", "a number": 1} {
			p := newProvider(t)
			p.without = []string{missing}
			p.info = map[string]any{"sub": sub, "preferred_username": "eve", "groups": []string{"dba"}}
			c, err := p.signIn(t, p.issuer(t))
			expectRefusal(t, err, "userinfo-subject")
			if fault.Of(err) != fault.Forbidden || c.Subject != "sub-1" || len(c.Groups) > 0 || c.Name == "eve" {
				t.Errorf("%s is missing, sub is %s: %+v", missing, name, c)
			}
		}
	}
}

type answers = func(p *provider, w http.ResponseWriter, r *http.Request)

type badAnswer struct {
	code   string // expected refusal when the groups should come from UserInfo
	answer answers
}

// badUserInfo lists what can go wrong with UserInfo.
func badUserInfo() map[string]badAnswer {
	jwt := func(change func(p *provider, header, claims map[string]any)) answers {
		return func(p *provider, w http.ResponseWriter, _ *http.Request) {
			header := map[string]any{"alg": "RS256", "kid": "r"}
			claims := map[string]any{"iss": p.URL, "aud": "board", "sub": "sub-1", "groups": []string{"ops"}}
			change(p, header, claims)
			w.Header().Set("Content-Type", "application/jwt; charset=utf-8")
			_, _ = w.Write([]byte(p.signed(header, claims)))
		}
	}
	text := func(status int, body string) answers {
		return func(_ *provider, w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}
	}
	out := map[string]badAnswer{}
	add := func(name, code string, answer answers) { out[name] = badAnswer{code, answer} }
	add("status 401", "userinfo-failed", text(401, `{"error":"invalid_token"}`))
	add("status 503", "userinfo-failed", text(503, ""))
	add("status 204", "userinfo-failed", text(204, ""))
	add("no JSON", "userinfo-failed", text(200, "<html>"))
	add("a list", "userinfo-failed", text(200, `["sub-1"]`))
	add("two objects", "userinfo-failed", text(200, `{"sub":"sub-1","groups":["ops"]}{}`))
	add("too long", "userinfo-failed", text(200, `{"sub":"sub-1","groups":["ops"],"x":"`+strings.Repeat("x", maxAnswer)+`"}`))
	add("broken off", "userinfo-failed", func(_ *provider, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte(`{"sub":`))
	})
	add("a redirect", "userinfo-failed", func(p *provider, w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, p.URL+"/keys", http.StatusFound)
	})
	add("null", "userinfo-subject", text(200, "null"))
	add("a JWT by another key's id", "userinfo-signature", jwt(func(_ *provider, h, _ map[string]any) { h["kid"] = "e" }))
	add("an unsigned JWT", "userinfo-signature", jwt(func(_ *provider, h, _ map[string]any) { h["alg"] = "none" }))
	add("a JWT by HMAC", "userinfo-signature", jwt(func(_ *provider, h, _ map[string]any) { h["alg"] = "HS256" }))
	add("a JWT for another client", "userinfo-signature", jwt(func(_ *provider, _, c map[string]any) { c["aud"] = "other" }))
	add("a JWT without audience", "userinfo-signature", jwt(func(_ *provider, _, c map[string]any) { delete(c, "aud") }))
	add("a JWT of another issuer", "userinfo-signature", jwt(func(_ *provider, _, c map[string]any) { c["iss"] = "https://evil.example" }))
	add(
		"a JWT that expired",
		"userinfo-signature",
		jwt(func(_ *provider, _, c map[string]any) { c["exp"] = time.Now().Add(-time.Hour).Unix() }),
	)
	add("a JWT about another person", "userinfo-subject", jwt(func(_ *provider, _, c map[string]any) { c["sub"] = "sub-2" }))
	add("an encrypted JWT", "userinfo-signature", func(_ *provider, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/jwt")
		_, _ = w.Write([]byte("a.b.c.d.e"))
	})
	return out
}

func TestUserInfoThatCannotBeTrustedIsRefusedWithItsReason(t *testing.T) {
	for name, tc := range badUserInfo() {
		t.Run(name, func(t *testing.T) {
			p := newProvider(t)
			p.without = []string{"groups"}
			p.answerInfo = func(w http.ResponseWriter, r *http.Request) { tc.answer(p, w, r) }
			c, err := p.signIn(t, p.issuer(t))
			r := expectRefusal(t, err, tc.code)
			want := fault.Forbidden
			if tc.code == "userinfo-failed" {
				want = fault.Unavailable
			}
			expect.Equal(t, fault.Of(err), want, "the refusal")
			if len(c.Groups) > 0 || c.Subject != "sub-1" || !slices.Contains(r.Claims.IDToken, "preferred_username") {
				t.Errorf("unexpected claims %+v, claims of the refusal %+v", c, r.Claims)
			}
		})
	}
}

func TestAMissingNameDoesNotRefuseTheSignIn(t *testing.T) {
	for name, tc := range badUserInfo() {
		if tc.code == "userinfo-subject" {
			continue
		}
		p := newProvider(t)
		p.without = []string{"preferred_username"}
		p.claims = map[string]any{"email": "anna@b.example"}
		p.answerInfo = func(w http.ResponseWriter, r *http.Request) { tc.answer(p, w, r) }
		c, err := p.signIn(t, p.issuer(t))
		if err != nil || c.Name != "anna@b.example" || strings.Join(c.Groups, ",") != "ops,staff" {
			t.Errorf("%s: unexpected claims %+v, error %v", name, c, err)
		}
	}
}

func TestSignedUserInfoIsRead(t *testing.T) {
	for name, exp := range map[string]any{"no end": nil, "an end": time.Now().Add(time.Minute).Unix()} {
		p := newProvider(t)
		p.without = []string{"groups"}
		p.answerInfo = func(w http.ResponseWriter, _ *http.Request) {
			claims := map[string]any{"iss": p.URL, "aud": []string{"board", "other"}, "sub": "sub-1", "groups": "ops"}
			if exp != nil {
				claims["exp"] = exp
			}
			w.Header().Set("Content-Type", "application/jwt")
			_, _ = w.Write([]byte(p.signed(map[string]any{"alg": "RS256", "kid": "r"}, claims)))
		}
		if c, err := p.signIn(t, p.issuer(t)); err != nil || strings.Join(c.Groups, ",") != "ops" {
			t.Errorf("%s: unexpected claims %+v, error %v", name, c, err)
		}
	}
}

// hanging answers like a provider, but never answers UserInfo.
type hanging struct{ http.Handler }

func (h hanging) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Path == "/userinfo" {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result(), nil
}

func TestAUserInfoRequestTimesOut(t *testing.T) {
	for _, missing := range []string{"groups", "preferred_username"} {
		synctest.Test(t, func(t *testing.T) {
			p := newUnservedProvider(t)
			p.Server = &httptest.Server{URL: "https://issuer.example"}
			p.info, p.without = map[string]any{}, []string{missing}
			i := p.issuer(t)
			i.client.Transport = hanging{p.handler()}
			began := time.Now()
			c, err := p.signIn(t, i)
			expect.Equal(t, time.Since(began), userInfoWait, "without %s: time that it took", missing)
			if missing == "groups" {
				if expectRefusal(t, err, "userinfo-failed"); fault.Of(err) != fault.Unavailable {
					t.Error(err)
				}
			} else if err != nil || strings.Join(c.Groups, ",") != "ops,staff" {
				t.Errorf("unexpected claims %+v, error %v", c, err)
			}
		})
	}
}
