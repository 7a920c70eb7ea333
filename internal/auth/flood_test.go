package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
)

const (
	floodFrom = 60                   // addresses
	floodEach = addressPerMinute + 1 // requests per address; the last one exceeds the limit
)

func floodAddress(i int) string { return fmt.Sprintf("198.51.100.%d", i+1) }

// flood makes a request too many from each of 60 addresses, forwarded by a proxy.
func flood(t *testing.T, request func(from string) error) {
	t.Helper()
	limited := 0
	for range floodEach {
		for i := range floodFrom {
			err := request(floodAddress(i))
			if err == nil {
				t.Fatal("a stranger was let in")
			}
			if isLimited(err) {
				limited++
			}
		}
	}
	if limited != floodFrom {
		t.Fatalf("%d requests were over the limit of their address", limited)
	}
}

// records returns all entries except those of the fixture.
func (h *fixture) records(t *testing.T) (out []store.AuditRecord) {
	t.Helper()
	rows, err := h.db.AuditRecords(t.Context(), 0, 10_000)
	must.Do(t, err)
	for _, r := range rows {
		if r.What != auditUserCreated {
			out = append(out, r)
		}
	}
	return out
}

func TestAFloodOfRequestsMakesFewAuditEntries(t *testing.T) {
	requests := map[string]struct {
		mode func(*Options)
		do   func(h *fixture, from string) error
	}{
		"wrong tokens": {withProxy, func(h *fixture, from string) error {
			_, err := h.Identify(httptest.NewRecorder(), newRequest("10.1.2.3", nil, "X-Forwarded-For", from, "Authorization", "Bearer sb_wrong"))
			return err
		}},
		"first links": {func(*Options) {}, func(h *fixture, from string) error {
			_, _, err := h.ClaimFirst(context.Background(), First{Secret: "wrong", Name: "root", Password: goodPassword, From: from})
			return err
		}},
		"unsolicited callbacks": {withIssuer(issuerWithGroups("ops")), func(h *fixture, from string) error {
			r := newRequest(from, nil)
			r.URL.RawQuery = "code=code&state=x"
			_, err := h.FinishOIDC(httptest.NewRecorder(), r)
			return err
		}},
	}
	for name, tc := range requests {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t, tc.mode)
			flood(t, func(from string) error { return tc.do(h, from) })
			h.o.Refusals.Flush()
			rows := h.records(t)
			if n := countAttempts(t, rows); n != floodFrom*floodEach {
				t.Errorf("the records stand for %d requests, want %d", n, floodFrom*floodEach)
			}
			if len(rows) > 4 {
				t.Errorf("%d records of one flood", len(rows))
			}
			last := rows[len(rows)-1]
			if last.Details["addresses"] == "" || last.Details["first"] == "" || last.Details["last"] == "" ||
				!strings.Contains(last.Details["examples"], "198.51.100.") {
				t.Errorf("unexpected record: %+v", last.AuditEntry)
			}
			if lines := strings.Count(h.log.String(), "\n"); lines > 50 {
				t.Errorf("%d lines of the log", lines)
			}
		})
	}
}

func TestAFloodOfWrongPasswordsMakesFewAuditEntriesThatNameTheAccounts(t *testing.T) {
	h := newFixture(t)
	anna := h.add(t, "anna", Viewer)
	tried, refused := 0, 0
	for i := range floodFrom {
		for _, name := range []string{"anna", fmt.Sprint("hunter2-", i), fmt.Sprint("root-", i)} {
			tried++
			_, _, err := h.SignIn(t.Context(), Credentials{Name: name, Password: "wrong", From: floodAddress(i)})
			if errors.Is(err, ErrCredentials) {
				refused++
			} else if !isLimited(err) {
				t.Fatal(err)
			}
		}
	}
	h.o.Refusals.Flush()
	rows := h.records(t)
	if n := countAttempts(t, h.auditRecords(t, auditRefused)); n != refused {
		t.Errorf("the records stand for %d of %d refused attempts", n, refused)
	}
	if len(rows) > 6 {
		t.Errorf("%d records of %d attempts", len(rows), tried)
	}
	kept := fmt.Sprint(rows) + h.log.String()
	expect.Lacks(t, kept, "hunter2", "an unknown name is stored; it may be a password")
	named := false
	for _, r := range rows {
		named = named || r.Subject == "user:"+anna.ID && r.Details["count"] == "9" && r.Details["addresses"] == "9"
	}
	if !named {
		t.Errorf("the account that was guessed at is not named: %+v", rows)
	}
}

// Actions of signed-in people, and their sign-ins, are never summarised.
func TestSignInsDuringAFloodAreRecordedOneByOne(t *testing.T) {
	h := newFixture(t)
	h.add(t, "anna", Viewer)
	_, p := h.signIn(t, "anna")
	for i := range floodFrom {
		_, _, _ = h.SignIn(t.Context(), Credentials{Name: fmt.Sprint("x", i), Password: "wrong", From: floodAddress(i)})
	}
	for range 5 {
		h.signIn(t, "anna")
		if _, err := h.ChangePassword(t.Context(), p, "not it", "another good phrase"); err == nil {
			t.Fatal("changed")
		}
	}
	expect.Equal(t, len(h.auditRecords(t, auditSignIn)), 6, "sign-ins are recorded")
	rows := h.auditRecords(t, auditUserPassword)
	if len(rows) != 5 || rows[0].By != p.ID {
		t.Errorf("%d refused changes of a password are recorded", len(rows))
	}
}
