package auth

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/refused"
)

// hashDigits is a password's line in the list.
func hashDigits(password string) string {
	sum := sha1.Sum([]byte(password))
	return hex.EncodeToString(sum[:])
}

func writeList(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "leaked.txt")
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func openList(t *testing.T, text string) *Leaked {
	t.Helper()
	l, err := OpenLeaked(writeList(t, text))
	must.Do(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func TestEveryLeakedPasswordIsFoundAndNoOther(t *testing.T) {
	for _, size := range []int{1, 2, 3, 10, 1000} {
		var known []string
		for i := range size {
			known = append(known, fmt.Sprint("known ", i))
		}
		slices.SortFunc(known, func(a, b string) int { return strings.Compare(hashDigits(a), hashDigits(b)) })
		for name, line := range map[string]func(i int, hash string) string{
			"plain":   func(_ int, hash string) string { return hash + "\n" },
			"upper":   func(_ int, hash string) string { return strings.ToUpper(hash) + "\n" },
			"CRLF":    func(_ int, hash string) string { return hash + "\r\n" },
			"counted": func(i int, hash string) string { return fmt.Sprintf("%s:%d\n", hash, i*i*i*i) },
			"mixed": func(i int, hash string) string {
				return []string{hash, strings.ToUpper(hash) + ":7", hash + ":0123456789012345\r"}[i%3] + "\n"
			},
		} {
			var text strings.Builder
			for i, password := range known {
				text.WriteString(line(i, hashDigits(password)))
			}
			for _, whole := range []string{text.String(), strings.TrimRight(text.String(), "\r\n")} {
				l := openList(t, whole)
				if err := l.checkSampledLines(); err != nil { // as for a file that is too large for a full check
					t.Error(err)
				}
				for _, password := range known {
					if has, err := l.Has(password); err != nil || !has {
						t.Errorf("%s of %d: %q is not found, %v", name, size, password, err)
					}
				}
				for i := range 50 {
					if has, err := l.Has(fmt.Sprint("absent ", i)); err != nil || has {
						t.Errorf("%s of %d: an absent one is found, %v", name, size, err)
					}
				}
			}
		}
	}
}

func TestAnInvalidListOfLeakedPasswordsIsRefusedWithThePosition(t *testing.T) {
	a, b, c := strings.Repeat("1", 40), strings.Repeat("2", 40), strings.Repeat("3", 40)
	for text, place := range map[string]string{
		"":                                   "is empty",
		"\n":                                 "line 1",
		"password\n":                         "line 1",
		a + "\n" + c + "\n" + b + "\n":       "line 3",
		a + "\n" + b[:39] + "\n" + c + "\n":  "line 2",
		a + "\n" + b + "2\n":                 "line 2",
		a + "\n" + b[:39] + "g\n":            "line 2",
		a + "\n\n" + b + "\n":                "line 2",
		a + ":\n":                            "line 1",
		a + ":x\n":                           "line 1",
		a + " 5\n":                           "line 1",
		a + "\n" + b[:32] + "\n":             "line 2",
		"\ufeff" + a + "\n":                  "line 1",
		a + "\n" + strings.Repeat("9", 1000): "line 2",
		a + "\n" + b + "\n" + strings.Repeat("\x00", 40) + "\n": "line 3",
	} {
		l, err := OpenLeaked(writeList(t, text))
		if fault.Of(err) != fault.Invalid || !strings.Contains(fault.Text(err), place) || l != nil {
			t.Errorf("%.60q: %v; want a sentence with %q", text, err, place)
		}
	}
	for _, path := range []string{t.TempDir(), filepath.Join(t.TempDir(), "none")} {
		refused.With(t, must.Err(OpenLeaked(path)), fault.Invalid, path, "%s: unexpected error", path)
	}
}

// A large list is not checked completely when opened. A bad line may be found later; until then
// passwords that would need it are rejected.
func TestABadLineInALargeListIsFoundOrPasswordsAreRejected(t *testing.T) {
	a, b, c := strings.Repeat("1", 40)+"\n", strings.Repeat("2", 40)+"\n", strings.Repeat("3", 40)+"\n"
	for _, text := range []string{c + b + a, a + strings.Repeat("x", 4096) + "\n" + c, a + strings.Repeat("\n", 50) + c,
		strings.Repeat("f", 300), a + c + b + a} {
		f := must.Get(os.Open(writeList(t, text)))
		l := &Leaked{file: f, path: "list", size: int64(len(text))}
		refused.With(t, l.checkSampledLines(), fault.Invalid, "byte ", "%.60q", text)
		refused := 0
		for i := range 20 {
			has, err := l.Has(fmt.Sprint(i))
			expect.That(t, !has, "%.60q: a password was found in an invalid list", text)
			if fault.Of(err) == fault.Unavailable {
				refused++
			}
		}
		expect.That(t, refused != 0, "%.60q is accepted as a list", text)
		_ = f.Close()
		if _, err := l.Has("x"); fault.Of(err) != fault.Unavailable || strings.Contains(fault.Text(err), "list,") {
			t.Errorf("a file that cannot be read any more: %v", err)
		}
	}
}

func TestLeakedPasswordsAreRefusedWhereverAPasswordIsSet(t *testing.T) {
	const leaked = "leaked horse battery"
	list := openList(t, hashDigits(leaked)+":3\n")
	h := newFixture(t, func(o *Options) { o.Leaked = list })
	link, err := h.FirstLink(t.Context())
	must.Do(t, err)
	_, key, _ := strings.Cut(link, "key=")
	refusals := map[string]error{}
	_, _, refusals["first admin"] = h.ClaimFirst(t.Context(), First{Secret: key, Name: "root", Password: leaked})
	h.add(t, "anna", Viewer)
	_, p := h.signIn(t, "anna")
	_, refusals["new"] = h.CreateUser(t.Context(), Console(), NewUser{Name: "ben", Password: leaked, Role: Viewer})
	_, refusals["break-glass"] = h.CreateUser(t.Context(), Console(), NewUser{Name: "glass", Password: leaked, BreakGlass: true})
	refusals["set"] = h.SetPassword(t.Context(), Console(), "anna", leaked)
	_, refusals["own"] = h.ChangePassword(t.Context(), p, goodPassword, leaked)
	for what, err := range refusals {
		refused.As(t, err, fault.Invalid, "%s", what)
		if text := fault.Text(err); !strings.Contains(text, "leak") || strings.Contains(text, "horse") {
			t.Errorf("%s: unexpected text: %q", what, text)
		}
	}
	if strings.Contains(h.log.String(), leaked) || strings.Contains(h.log.String(), hashDigits(leaked)) {
		t.Error("the password is in the log")
	}
	expect.NoError(t, must.Err(h.ChangePassword(t.Context(), p, goodPassword, "another good one")), "ChangePassword")
	_ = list.Close() // a list that cannot be read rejects every new password
	refused.As(t, h.SetPassword(t.Context(), Console(), "anna", "a third good one"), fault.Unavailable, "without the list")
	expect.Contains(t, h.log.String(), "leaked.txt", "the log does not say which file")
	h.signInWith(t, "anna", "another good one") // existing passwords still work
}

// signInWith signs in with a given password.
func (h *fixture) signInWith(t *testing.T, name, password string) {
	t.Helper()
	if _, _, err := h.SignIn(t.Context(), Credentials{Name: name, Password: password, From: "192.0.2.1"}); err != nil {
		t.Error(err)
	}
}

func TestObviousPasswordsAreRejected(t *testing.T) {
	for _, p := range []string{
		"", "short", "elevenchars", strings.Repeat("x", maxPassword+1), "not\xffutf-8-text",
		"anna.example", "ANNA.EXAMPLE", "anna.example2026!", "passwordpassword", "Password1234!", "P@ssw0rd12345", "administrator1",
		"shardboard123", "mongodb-yorkie",
		"aaaaaaaaaaaa", "abababababab", "abcabcabcabc", "1234123412341234", "012345678901", "qwertyuiopas", "abcdefghijklm",
		"correcthorsebatterystaple", "letmein-letmein", "changeme2026!!",
	} {
		if err := checkPassword("anna.example", p); fault.Of(err) != fault.Invalid || err == nil {
			t.Errorf("%.40q is not rejected: %v", p, err)
		}
	}
}

func TestLongAndUnusualPasswordsAreAccepted(t *testing.T) {
	for _, p := range []string{
		goodPassword, "tr0ubador&3xyz", "837465019283", "나는 오늘도 바다에 간다", "!#%&/()=?¤*^~", "vier müde Esel im Regen", "k9$Lq2#Zr8@W",
		strings.Repeat("wanderung ", 102), "            x",
	} {
		expect.NoError(t, checkPassword("anna", p), "%.40q is rejected", p)
	}
}

func FuzzPasswordsAreJudgedWithoutPanic(f *testing.F) {
	f.Add("anna", "correct horse")
	f.Add("", "\xff\x00aaaaaaaaaaaaaaaa")
	f.Fuzz(func(t *testing.T, name, password string) {
		expect.That(t, checkPassword(name, password) != nil || len(password) >= minPassword, "%q is accepted", password)
	})
}
