package auth

import (
	"fmt"
	"testing"
	"time"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// signInByOIDC signs a person in at the issuer and returns the principal.
func (h *fixture) signInByOIDC(t *testing.T, f *fakeIssuer, subject, name string) Principal {
	t.Helper()
	f.claims = Claims{Issuer: "https://issuer.example", Subject: subject, Name: name, Groups: []string{"ops"}}
	c, err := h.callback(t)
	must.Do(t, err)
	p, err := h.identify(c)
	must.Do(t, err)
	return p
}

func TestOIDCUsersAreShownByNameAndIdentifiedByID(t *testing.T) {
	f := issuerWithGroups()
	h := newFixture(t, withIssuer(f))
	first, second := h.signInByOIDC(t, f, "sub-1", "Anna"), h.signInByOIDC(t, f, "sub-2", "Anna")
	if first.ID == second.ID || first.Name != "Anna" || second.Name != "Anna" {
		t.Errorf("unexpected principals %+v and %+v", first, second)
	}
	renamed := h.signInByOIDC(t, f, "sub-1", "Anna B")
	nameless := h.signInByOIDC(t, f, "sub-3", "")
	if renamed.ID != first.ID || renamed.Name != "Anna B" || nameless.Name != "sub-3" {
		t.Errorf("unexpected principals %+v and %+v", renamed, nameless)
	}
	names, err := PeopleNames(t.Context(), h.db)
	if err != nil || len(names) != 3 || names[first.ID] != "Anna B" || names[second.ID] != "Anna" || names[nameless.ID] != "sub-3" {
		t.Errorf("unexpected names %v, error %v", names, err)
	}
	logins := h.auditRecords(t, auditSignIn)
	if len(logins) != 4 || logins[0].By != first.ID || logins[0].Details["name"] != "Anna" || logins[2].By != first.ID ||
		logins[2].Details["name"] != "Anna B" {
		t.Errorf("unexpected sign-in records: %+v", logins)
	}
	h.token(t, first, Viewer)
	tokens, err := h.Tokens(t.Context(), Principal{ID: "x", Role: Admin})
	if err != nil || len(tokens) != 1 || tokens[0].Owner != first.ID || tokens[0].OwnerName != "Anna B" {
		t.Errorf("unexpected tokens %+v, error %v", tokens, err)
	}
	sessions, err := h.Sessions(t.Context(), Principal{ID: "x", Role: Admin})
	if err != nil || len(sessions) != 4 || sessions[0].Name == "" || sessions[0].Subject == "" {
		t.Errorf("unexpected sessions %+v, error %v", sessions, err)
	}
}

func TestStoredNamesAreBoundedAndWrittenOnlyWhenTheyChange(t *testing.T) {
	h := newFixture(t, withIssuer(issuerWithGroups()))
	if err := h.db.SetSetting(t.Context(), peopleSetting, "null"); err != nil { // an invalid list
		t.Fatal(err)
	}
	note := func(id, name string) string {
		t.Helper()
		must.Do(t, h.writeName(t.Context(), Principal{ID: id, Name: name}))
		text, err := h.db.Setting(t.Context(), peopleSetting)
		must.Do(t, err)
		return text
	}
	was := note("oidc:a:1", "Anna")
	h.advance(time.Hour)
	expect.Equal(t, note("oidc:a:1", "Anna"), was, "written again within the hour")
	h.advance(nameRefresh)
	if now := note("oidc:a:1", "Anna"); now == was {
		t.Error("the time of a person who signs in again was not updated")
	}
	people := map[string]person{}
	for n := range maxPeople {
		people[fmt.Sprint("oidc:a:many", n)] = person{Name: "x", At: h.clock().Add(time.Duration(n) * time.Second)}
	}
	must.Do(t, h.setPeople(t.Context(), people))
	h.advance(24 * time.Hour)
	note("oidc:a:new", "New")
	names, err := PeopleNames(t.Context(), h.db)
	_, oldest := names["oidc:a:many0"]
	_, next := names["oidc:a:many1"]
	if err != nil || len(names) != maxPeople || oldest || !next || names["oidc:a:new"] != "New" {
		t.Errorf("%d names, %v, %v, %v", len(names), oldest, next, err)
	}
}
