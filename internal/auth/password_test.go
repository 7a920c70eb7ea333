package auth

import (
	"strings"
	"testing"

	"shardboard/internal/fault"
)

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
		if err := checkPassword("anna", p); err != nil {
			t.Errorf("%.40q is rejected: %v", p, err)
		}
	}
}

func FuzzPasswordsAreJudgedWithoutPanic(f *testing.F) {
	f.Add("anna", "correct horse")
	f.Add("", "\xff\x00aaaaaaaaaaaaaaaa")
	f.Fuzz(func(t *testing.T, name, password string) {
		if checkPassword(name, password) == nil && len(password) < minPassword {
			t.Errorf("%q is accepted", password)
		}
	})
}
