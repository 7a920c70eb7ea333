package auth

import (
	"testing"

	"shardboard/internal/fixture/expect"
)

func TestSessionsAndTokensOfOneAccountAreOnePerson(t *testing.T) {
	token := func(owner string) Principal { return Principal{ID: "token:1", Method: ByToken, Owner: owner} }
	for want, list := range map[string][]Principal{
		"user:1":          {{ID: "user:1", Method: ByPassword}, {ID: "user:1", Method: ByBreakGlass}, token("user:1")},
		"oidc:x:anna":     {{ID: "oidc:x:anna", Method: ByOIDC}, token("oidc:x:anna")},
		"proxy:anna":      {{ID: "proxy:anna", Method: ByProxy}, token("proxy:anna")},
		"" /* unknown */ : {{}, Local(), Console(), {ID: "demo", Method: ByDemo}, token("console"), token(""), token("anna"), token("token:2")},
	} {
		for _, p := range list {
			expect.Equal(t, p.Person(), want, "%+v", p)
		}
	}
}

func TestTokensSayWhoseTheyAre(t *testing.T) {
	for want, p := range map[string]Principal{
		"ci, a token of anna": {ID: "token:1", Name: "ci", Method: ByToken, Owner: "user:1", OwnerName: "anna"},
		"ci, a token of oidc": {ID: "token:1", Name: "ci", Method: ByToken, Owner: "oidc"},
		"ci":                  {ID: "token:1", Name: "ci", Method: ByToken},
		"anna":                {ID: "user:1", Name: "anna", Method: ByPassword, OwnerName: "nobody"},
	} {
		expect.Equal(t, p.NameAndOwner(), want, "%+v", p)
	}
}
