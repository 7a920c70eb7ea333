package site_test

import (
	"net/http"
	"testing"

	"shardboard/internal/fixture/expect"
	"shardboard/web/webtest"
)

func TestAddressesWithASlashTooManyLeadToTheirPage(t *testing.T) {
	s := webtest.New(t)
	for address, want := range map[string]string{
		"/collections/": "/collections", "/collections//": "/collections", "/zones/?sort=name": "/zones?sort=name",
		"/collections/y.documents/": "/collections/y.documents",
		"/nothing/":                 "", "//evil.example/": "", "//collections/": "", "/api/v1/shards/": "",
	} {
		w := s.Do("GET", address)
		if got := w.Header().Get("Location"); got != want || (w.Code == http.StatusSeeOther) != (want != "") {
			t.Errorf("%s leads to %q with %d, want %q", address, got, w.Code, want)
		}
	}
	expect.That(t, s.Do("POST", "/collections/").Code != http.StatusSeeOther, "a form is led on without its fields")
}
