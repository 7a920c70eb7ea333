package main

import (
	"crypto/sha1"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

func passwordFile(t *testing.T, password string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "password")
	must.Do(t, os.WriteFile(path, []byte(password+"\n"), 0o600))
	return path
}

func TestLeakedPasswordsAreRefusedWithoutAServerToo(t *testing.T) {
	const leaked = "leaked horse battery"
	sum := sha1.Sum([]byte(leaked))
	list := filepath.Join(t.TempDir(), "leaked.txt")
	must.Do(t, os.WriteFile(list, []byte(strings.ToUpper(hex.EncodeToString(sum[:]))+":12\r\n"), 0o600))
	bad, good := passwordFile(t, leaked), passwordFile(t, "correct horse battery")
	data := []string{"--data-dir", t.TempDir()}
	try := func(code int, says string, args ...string) {
		t.Helper()
		got, out, errs := shardboard(t, append(args, data...)...)
		expect.That(t, got == code && strings.Contains(errs, says) && !strings.Contains(out+errs, "horse"),
			"%v: exit %d, %s%s", args, got, out, errs)
	}
	try(2, "leak", "user", "add", "anna", "--password-file", bad, "--leaked-passwords", list)
	try(0, "", "user", "add", "anna", "--password-file", good, "--leaked-passwords", list)
	try(2, "line 1", "user", "passwd", "anna", "--password-file", good, "--leaked-passwords", good)
	t.Setenv("SHARDBOARD_LEAKED_PASSWORDS", list)
	try(2, "leak", "user", "passwd", "anna", "--password-file", bad)
	try(2, "leak", "user", "break-glass", "--password-file", bad)
	try(0, "", "user", "break-glass", "--password-file", good)
}

func TestAccountsAreManagedWithoutAServer(t *testing.T) {
	dir, good := t.TempDir(), passwordFile(t, "correct horse battery")
	data := []string{"--data-dir", dir}
	ok := func(args ...string) string {
		t.Helper()
		code, out, errs := shardboard(t, append(args, data...)...)
		must.That(t, code == 0, "%v: exit %d, %s", args, code, errs)
		return out
	}
	ok("user", "add", "anna", "--role", "admin", "--password-file", good)
	ok("user", "add", "ben", "--password-file", good)
	ok("user", "role", "ben", "support")
	ok("user", "disable", "ben")
	ok("user", "break-glass", "--password-file", good)
	ok("user", "break-glass", "--password-file", passwordFile(t, "another correct horse"))
	list := ok("user", "list")
	for _, want := range []string{`(?m)^anna +admin +enabled +never$`, `(?m)^ben +support +disabled `,
		`(?m)^break-glass +admin +enabled, break-glass `} {
		expect.That(t, regexp.MustCompile(want).MatchString(list), "%s is not in\n%s", want, list)
	}
	ok("user", "enable", "ben")
	ok("user", "passwd", "ben", "--password-file", good)
	secret := strings.TrimSpace(ok("token", "create", "ci", "--role", "viewer"))
	expect.That(t, regexp.MustCompile(`^sb_[a-z2-7]{59}$`).MatchString(secret), "the output is not the secret alone: %q", secret)
	tokens := ok("token", "list")
	expect.Lacks(t, tokens, secret, "the list shows the secret again")
	id := strings.Fields(strings.Split(tokens, "\n")[1])[0]
	ok("token", "revoke", id)
	for _, tc := range []struct {
		code int
		args []string
		says string
	}{
		{4, []string{"user", "disable", "anna"}, "last enabled admin"},
		{3, []string{"user", "passwd", "nobody", "--password-file", good}, "no such user"},
		{2, []string{"user", "passwd", "anna", "--password-file", passwordFile(t, "short")}, "12 characters"},
		{2, []string{"user", "add", "zoe", "--password-file", "/no/such/file"}, "cannot be read"},
		{4, []string{"token", "revoke", id}, "already"},
		{4, []string{"user", "break-glass", "--name", "other", "--password-file", good}, "only one"},
	} {
		says(t, tc.code, tc.says, append(tc.args, data...)...)
	}
}

func TestMismatchedPasswordsChangeNothing(t *testing.T) {
	answers := []string{"correct horse battery", "correct horse battering"}
	_, err := askTwice(&env{ctx: t.Context(), stderr: &strings.Builder{}}, func() ([]byte, error) {
		a := answers[0]
		answers = answers[1:]
		return []byte(a), nil
	})
	expect.That(t, err != nil, "two different passwords were accepted")
}

func TestNoFlagTakesASecret(t *testing.T) {
	for _, cmd := range [][]string{{"serve"}, {"demo"}, {"user", "add"}, {"user", "passwd"}, {"user", "break-glass"}, {"token", "create"}} {
		_, out, _ := shardboard(t, append(cmd, "--help")...)
		for _, flag := range regexp.MustCompile(`--[a-z-]*(password|secret|token)[a-z-]*`).FindAllString(out, -1) {
			if !strings.HasSuffix(flag, "-file") && flag != "--leaked-passwords" { // that file is public
				t.Errorf("%v has %s", cmd, flag)
			}
		}
		expect.That(t, len(out) >= 100, "%v has no help: %q", cmd, out)
	}
}
