package fileperm

import (
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/sanitize"
)

func TestCommandsQuoteEveryFileName(t *testing.T) {
	bash, err := exec.LookPath("bash")
	for _, name := range []string{"plain", "two words", "it's", "$(touch x)", "`id`", "a;b", "a\nb", "-rf", "\x1b[31mred",
		"back\\slash\n", "ключ", "\u202eright", "\xff", "'; rm -rf /; '", "a\tb\x00"[:3]} {
		quoted := Quote(name)
		if sanitize.Line(quoted) != quoted || strings.ContainsAny(quoted, "\r\n") {
			t.Errorf("%q: %q is not one visible line", name, quoted)
		}
		if err != nil {
			continue // without a shell only the text can be checked
		}
		out, err := exec.Command(bash, "-c", "printf %s "+quoted).Output()
		if got := strings.TrimPrefix(string(out), "./"); err != nil || got != name {
			t.Errorf("%q: the shell reads %s as %q (%v)", name, quoted, got, err)
		}
	}
	if err != nil {
		t.Log("no bash: the quoted names were not read back")
	}
}

func TestTheCommandInARefusalFixesThePermissions(t *testing.T) {
	path := makeFile(t, filepath.Join(t.TempDir(), "it's the\nsecret"), 0o644)
	_, err := ReadSecret("file of the token", path, 10)
	expectRefusal(t, "readable", err, "mode 0644")
	text := err.Error()
	expect.Lacks(t, text, "\n", "more than one line")
	bash, none := exec.LookPath("bash")
	must.That(t, none == nil, "the commands need bash: %v", none)
	_, command, _ := strings.Cut(text, "Run: ")
	command, _, _ = strings.Cut(command, "; and change")
	if out, err := exec.Command(bash, "-c", command).CombinedOutput(); err != nil {
		t.Fatalf("%s: unexpected error %v, output %s", command, err, out)
	}
	if got, err := ReadSecret("file of the token", path, 10); err != nil || string(got) != "text\n" {
		t.Errorf("after %s: %q, %v", command, got, err)
	}
}

func TestModesAreShownAsChmodTakesThem(t *testing.T) {
	for mode, want := range map[fs.FileMode]string{0o600: "0600", fs.ModeDir | fs.ModeSticky | 0o777: "1777",
		fs.ModeSetgid | 0o775: "2775", fs.ModeSetuid | 0o755: "4755"} {
		expect.Equal(t, octal(mode), want, "%v", mode)
	}
}
