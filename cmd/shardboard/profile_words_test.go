package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"shardboard/internal/fixture/expect"
)

// What people read is in the words of the server's profile; JSON and CSV keep their names.
func TestOutputSpeaksTheWordsOfTheProfile(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		text := `{"items":[]}`
		switch r.URL.Path {
		case "/api/v1/profile":
			text = `{"name":"shop","words":{"tenant":"Tenant","tenants":"Tenants","document":"Order","documents":"Orders"}}`
		case "/api/v1/locate":
			text = `{"items":[{"kind":"document","id":"o-1","name":"N001","projectName":"Shop 3"},{"kind":"project","id":"t-3"}],"input":[]}`
		case "/api/v1/heat/documents":
			text = `{"items":[{"ns":"shop.orders","project":"t-3","id":"o-1"}],"byDocument":["shop.orders"]}`
		}
		_, _ = w.Write([]byte(text))
	}))
	defer s.Close()
	for _, tc := range []struct {
		args string
		says []string
		not  string
	}{
		{"locate N001", []string{"order o-1  N001  (tenant Shop 3)", "tenant t-3"}, "project"},
		{"locate N001 --output csv", []string{"project"}, "tenant"},
		{"get heat documents", []string{"TENANT", "Not placed by tenant, so that any of their chunks"}, "PROJECT"},
		{"get heat documents --output csv", []string{"project"}, "tenant"},
	} {
		_, out, errs := shardboard(t, append(strings.Fields(tc.args), "--server", s.URL)...)
		for _, want := range tc.says {
			expect.That(t, strings.Contains(out+errs, want), "%s: does not say %q:\n%s%s", tc.args, want, out, errs)
		}
		expect.That(t, !strings.Contains(out+errs, tc.not), "%s: says %q:\n%s%s", tc.args, tc.not, out, errs)
	}
}

// A cluster of Yorkie's needs no profile: nothing is written to a file, and the exit code says so.
func TestNothingIsProposedForYorkiesData(t *testing.T) {
	uri := startCluster(t)
	code, out, errs := shardboard(t, "profile", "propose", "--uri", uri)
	expect.That(t, code == 3 && out == "" && strings.Contains(errs, "fits the built-in profile yorkie"),
		"exit %d, %q, %q", code, out, errs)
	saysAll(t, 0, []string{"tenant: project_id\n", "collection: projects\n"},
		"profile", "propose", "--uri", uri, "--database", "yorkie-meta")
}
