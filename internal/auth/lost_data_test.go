package auth

import (
	"os"
	"strings"
	"testing"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/must"
)

// Signed-in people stay signed in, because open files can still be read. Nobody can sign in or
// change anything, because it would be lost.
func TestNobodySignsInWhileTheDataDirectoryIsGone(t *testing.T) {
	h := newFixture(t)
	h.add(t, "anna", Admin)
	cookie, anna := h.signIn(t, "anna")
	must.Do(t, os.Rename(h.dir, h.dir+".away"))
	_, _, err := h.SignIn(t.Context(), Credentials{Name: "anna", Password: goodPassword, From: "192.0.2.1"})
	if fault.Of(err) != fault.Unavailable || !strings.Contains(fault.Text(err), "was moved or deleted") {
		t.Errorf("signing in: %v", err)
	}
	if _, err := h.CreateUser(t.Context(), anna, NewUser{Name: "olga", Password: goodPassword, Role: Viewer}); fault.Of(
		err,
	) != fault.Unavailable {
		t.Errorf("adding a user: %v", err)
	}
	if who, err := h.identify(cookie); err != nil || who.Name != "anna" {
		t.Errorf("the signed-in person is identified as %+v, %v", who, err)
	}
	must.Do(t, os.Rename(h.dir+".away", h.dir))
	h.signIn(t, "anna")
}
