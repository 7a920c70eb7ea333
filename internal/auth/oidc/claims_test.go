package oidc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

func parseObject(t *testing.T, text string) map[string]any {
	t.Helper()
	var out map[string]any
	must.Do(t, json.Unmarshal([]byte(text), &out))
	return out
}

func TestClaimsAreFoundByNameAndByPath(t *testing.T) {
	claims := parseObject(t, `{"groups": ["a"], "realm_access": {"roles": ["b"], "roles.x": ["c"]}, "https://example.com/roles": ["d"],
		"resource_access": {"shardboard": {"roles": ["e"]}, "board.example.com": {"roles": ["f"]}}, "a.b": {"c": "g"}, "a": {"b": {"c": "h"}, "b.d": "i"},
		"none": null, "x": {"none": null, "text": "y"}, "realm_access.literal": ["j"], "": "k", "t.": "l"}`)
	for path, want := range map[string]string{
		"groups": "[a]", "realm_access.roles": "[b]", "realm_access.roles.x": "[c]", "https://example.com/roles": "[d]",
		"resource_access.shardboard.roles": "[e]", "resource_access.board.example.com.roles": "[f]", "a.b.c": "g", "a.b.d": "i",
		"realm_access.literal": "[j]", "t.": "l",
		"none": "", "x.none": "", "Groups": "", "realm_access": "map[roles:[b] roles.x:[c]]", "realm_access.": "", ".realm_access": "",
		"x.text.more": "", "groups.a": "", "..": "", "missing": "",
	} {
		got, ok := lookup(claims, path)
		expect.That(t, ok == (want != "") && (!ok || fmt.Sprint(got) == want), "%q: %v, %v, expected %q", path, got, ok, want)
	}
}

func TestGroupsAreAStringOrAList(t *testing.T) {
	long := strings.Repeat("g", maxGroup+1)
	for text, tc := range map[string]struct {
		want    string
		ignored int
		problem string
	}{
		`"ops"`:                      {want: "ops"},
		`"ops,staff all"`:            {want: "ops,staff all"}, // one group: names may have commas and spaces
		`""`:                         {ignored: 1},
		`[]`:                         {},
		`["ops", "staff"]`:           {want: "ops|staff"},
		`["ops", 1, null, {}, [""]]`: {want: "ops", ignored: 4},
		`["ops", "` + long + `"]`:    {want: "ops", ignored: 1},
		`[1, 2]`:                     {ignored: 2, problem: "list of 2"},
		`{"roles": ["ops"]}`:         {problem: "object"},
		`7`:                          {problem: "number"},
		`true`:                       {problem: "true or false"},
	} {
		got, err := readGroups(parseObject(t, `{"v":`+text+`}`)["v"])
		if strings.Join(got.groups, "|") != tc.want || got.ignored != tc.ignored || (err != nil) != (tc.problem != "") ||
			err != nil && !strings.Contains(err.Error(), tc.problem) {
			t.Errorf("%.40s: %+v, %v", text, got, err)
		}
	}
}

func TestGroupsComeFromTheConfiguredClaim(t *testing.T) {
	for claim, claims := range map[string]map[string]any{
		"realm_access.roles":               {"realm_access": map[string]any{"roles": []string{"ops"}}},
		"resource_access.shardboard.roles": {"resource_access": map[string]any{"shardboard": map[string]any{"roles": "ops"}}},
		"https://example.com/roles":        {"https://example.com/roles": []any{"ops", 1}},
	} {
		inToken, inInfo := newProvider(t), newProvider(t)
		inToken.claims = claims
		inInfo.info = map[string]any{"sub": "sub-1", "https://example.com/roles": claims["https://example.com/roles"],
			"realm_access": claims["realm_access"], "resource_access": claims["resource_access"]}
		for where, p := range map[string]*provider{"the ID token": inToken, "UserInfo": inInfo} {
			c, err := p.signIn(t, p.issuer(t, func(o *Options) { o.GroupsClaim = claim }))
			if err != nil || strings.Join(c.Groups, ",") != "ops" || c.GroupsClaim != claim {
				t.Errorf("%s in %s: %+v, %v", claim, where, c, err)
			}
		}
	}
}

func TestGroupRefusalsNameClaimsWithoutValues(t *testing.T) {
	secret := "value-of-a-claim"
	many := make([]string, maxGroups+1)
	for i := range many {
		many[i] = fmt.Sprint(secret, i)
	}
	for code, set := range map[string]func(p *provider){
		"groups-missing": func(p *provider) { p.without = []string{"groups"} },
		"groups-form": func(p *provider) {
			p.claims = map[string]any{"groups": map[string]any{"inner": map[string]any{"deep": []string{secret}}}}
		},
		"groups-too-many": func(p *provider) { p.claims = map[string]any{"groups": many} },
		"groups-overage": func(p *provider) {
			p.without = []string{"groups"}
			p.claims = map[string]any{"_claim_names": map[string]any{"groups": "src1"},
				"_claim_sources": map[string]any{"src1": map[string]any{"endpoint": "https://graph.example/" + secret}}}
		},
	} {
		t.Run(code, func(t *testing.T) {
			p := newProvider(t)
			p.info = map[string]any{"sub": "sub-1", "nested": map[string]any{"names": secret}, "phone": secret}
			set(p)
			c, err := p.signIn(t, p.issuer(t, func(o *Options) { o.NameClaim = "nickname" }))
			r := expectRefusal(t, err, code)
			all := fmt.Sprint(r.Advice, r.Claims, err, fault.Text(err))
			if strings.Contains(all, secret) || strings.Contains(all, "sub-1") || !slices.Contains(r.Claims.IDToken, "preferred_username") ||
				!slices.Contains(r.Claims.UserInfo, "nested.names") {
				t.Errorf("%s\n%+v", all, r.Claims)
			}
			if fault.Of(err) != fault.Forbidden || c.Subject != "sub-1" || len(c.Groups) > 0 {
				t.Errorf("unexpected claims: %+v", c)
			}
			if code == "groups-form" && !slices.Contains(r.Claims.IDToken, "groups.inner.deep") {
				t.Errorf("unexpected claim names of the ID token: %q", r.Claims.IDToken)
			}
		})
	}
}

func TestGroupsThatTheIssuerLeftOutAreRecognised(t *testing.T) {
	for _, has := range []any{true, "true"} {
		p := newProvider(t)
		p.without, p.claims = []string{"groups"}, map[string]any{"hasgroups": has}
		_, err := p.signIn(t, p.issuer(t))
		expectRefusal(t, err, "groups-overage")
	}
	p := newProvider(t) // only for the groups claim, not for roles
	p.claims = map[string]any{"hasgroups": true}
	_, err := p.signIn(t, p.issuer(t, func(o *Options) { o.GroupsClaim = "roles" }))
	expectRefusal(t, err, "groups-missing")
	p = newProvider(t) // UserInfo may still have them
	p.without, p.claims = []string{"groups"}, map[string]any{"hasgroups": true}
	p.info = map[string]any{"sub": "sub-1", "groups": []string{"ops"}}
	if c, err := p.signIn(t, p.issuer(t)); err != nil || len(c.Groups) != 1 {
		t.Errorf("unexpected claims %+v, error %v", c, err)
	}
}

func TestTheNameIsTheFirstDisplayableClaim(t *testing.T) {
	for name, tc := range map[string]struct {
		claim, claims, info, want string
	}{
		"preferred":          {"", `{"preferred_username": "p", "email": "e@x", "name": "n"}`, `{}`, "p"},
		"an address":         {"", `{"email": "e@x", "name": "n"}`, `{}`, "e@x"},
		"not verified":       {"", `{"email": "e@x", "email_verified": false, "name": "n"}`, `{}`, "n"},
		"not verified, text": {"", `{"email": "e@x", "email_verified": "false", "name": "n"}`, `{}`, "n"},
		"verified":           {"", `{"email": "e@x", "email_verified": true, "name": "n"}`, `{}`, "e@x"},
		"verified elsewhere": {"", `{"email": "e@x", "email_verified": false}`, `{"email": "e@x", "email_verified": true}`, "e@x"},
		"chosen":             {"name", `{"preferred_username": "p", "name": " n "}`, `{}`, "n"},
		"chosen, by path":    {"person.nick", `{"person": {"nick": "k"}}`, `{}`, "k"},
		"chosen and missing": {"nick", `{"preferred_username": "p"}`, `{}`, "p"},
		"UserInfo's":         {"", `{"name": "n"}`, `{"preferred_username": "p"}`, "p"},
		"both":               {"", `{"preferred_username": "p"}`, `{"preferred_username": "q"}`, "p"},
		"hostile":            {"", `{"preferred_username": "a\u202eb", "email": "a\nb", "name": "n"}`, `{}`, "n"},
		"too long":           {"", `{"preferred_username": "` + strings.Repeat("x", 201) + `", "name": "n"}`, `{}`, "n"},
		"no text":            {"", `{"preferred_username": 7, "name": ["n"]}`, `{}`, ""},
		"none":               {"", `{}`, `{}`, ""},
	} {
		i := newProvider(t).issuer(t, func(o *Options) { o.NameClaim = tc.claim })
		expect.Equal(t, i.nameOf([]map[string]any{parseObject(t, tc.claims), parseObject(t, tc.info)}), tc.want,
			"%s", name)
	}
}

func TestNamesOfClaimsAreBoundedAndPrintable(t *testing.T) {
	claims := map[string]any{
		"a\u202e\x1b[31m\n":          1,
		strings.Repeat("long", 1000): 1,
		"deep":                       parseObject(t, `{"a": {"b": {"c": {"d": 1}}}}`),
		"empty":                      map[string]any{},
	}
	for n := range 1000 {
		claims[fmt.Sprintf("z%04d", n)] = n
	}
	got := claimNames(claims)
	if len(got) != maxNames+1 || got[maxNames] != fmt.Sprintf("(%d more)", 1004-maxNames) || !slices.Contains(got, "deep.a.b") ||
		!slices.Contains(got, "empty") {
		t.Errorf("unexpected number of names %d: %q", len(got), got)
	}
	for _, name := range got {
		if len(name) > maxNamed+len(" …") || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("unexpected name: %q", name)
		}
	}
}

func TestScopesAreRequestedAndAlwaysIncludeOpenID(t *testing.T) {
	for want, scopes := range map[string][]string{
		"openid profile email":          nil,
		"openid groups":                 {"groups"},
		"openid":                        {},
		"openid a b":                    {"a", "openid", "b", "a"},
		"openid urn:x:y:roles https://": {"urn:x:y:roles", "https://"},
		"openid ! #[ ]~":                {"!", "#[", "]~"},
	} {
		p := newProvider(t)
		to, err := p.issuer(t, func(o *Options) { o.Scopes = scopes }).Address(t.Context(), state, nonce, verifier)
		u, _ := url.Parse(to)
		expect.That(t, err == nil && u.Query().Get("scope") == want, "%q: unexpected address %q, error %v", scopes, to, err)
	}
}

func TestInvalidScopesAreRejectedAtStart(t *testing.T) {
	for _, bad := range []string{"", "a b", "a\"b", `a\b`, "a\n", "\x7f", "é", "a\u202eb", strings.Repeat("x", maxScope+1)} {
		o := Options{Issuer: "https://issuer.example", ClientID: "board", RedirectURL: "https://board.example/x", Scopes: []string{"email", bad}}
		if _, err := New(o); err == nil || fault.Of(err) != fault.Invalid || !strings.Contains(fault.Text(err), "--oidc-scopes") {
			t.Errorf("%q: unexpected error: %v", bad, err)
		}
	}
}

func TestUnlistedScopesAreRequestedWithAWarning(t *testing.T) {
	for name, tc := range map[string]struct {
		listed any
		warned bool
	}{"not listed": {[]string{"openid", "email"}, true}, "listed": {[]string{"groups", "openid"}, false}, "no list": {nil, false},
		"no list of texts": {7, false}} {
		p := newProvider(t)
		p.more = map[string]any{"scopes_supported": tc.listed}
		var log bytes.Buffer
		i := p.issuer(t, func(o *Options) { o.Scopes, o.Log = []string{"groups"}, slog.New(slog.NewTextHandler(&log, nil)) })
		for range 2 {
			to, err := i.Address(t.Context(), state, nonce, verifier)
			expect.That(t, err == nil && strings.Contains(to, "groups"), "%s: unexpected address %q, error %v", name, to, err)
		}
		if got := strings.Count(log.String(), "does not list"); got != map[bool]int{true: 1}[tc.warned] ||
			tc.warned && !strings.Contains(log.String(), "[groups]") {
			t.Errorf("%s: unexpected log: %s", name, log.String())
		}
	}
}

func TestMissingGroupsAdviceNamesScopesThatWereNotGranted(t *testing.T) {
	p := newProvider(t)
	p.without, p.granted = []string{"groups"}, "openid profile"
	i := p.issuer(t, func(o *Options) { o.Scopes = []string{"profile", "groups", "roles"} })
	_, err := p.signIn(t, i)
	if r := expectRefusal(t, err, "groups-missing"); !strings.Contains(r.Advice, "did not grant these scopes: groups roles.") {
		t.Error(r.Advice)
	}
}
