package audit_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
	"shardboard/internal/store/audit"
	"shardboard/internal/store/keyfile"
)

func TestAKeyThatOthersCanReplaceIsRefused(t *testing.T) {
	top := t.TempDir()
	real := filepath.Join(top, "real", "audit.key")
	must.Do(t, must.Err(keyfile.Audit.Open(real, "")))
	wide := filepath.Join(top, "wide")
	if err := errors.Join(os.Symlink(real, filepath.Join(top, "link.key")), os.Link(real, filepath.Join(top, "second.key")),
		os.Mkdir(wide, 0o700), os.Chmod(wide, 0o777|os.ModeSticky), os.Symlink("real", filepath.Join(top, "dir"))); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(top, "link.key"): "is a link", filepath.Join(top, "second.key"): "has 2 names",
		filepath.Join(wide, "audit.key"): filepath.Join(wide, "shardboard", "audit.key"),
	} {
		if _, err := keyfile.Audit.Open(path, ""); fault.Of(err) != fault.Invalid || !strings.Contains(fault.Text(err), want) {
			t.Errorf("%s: got %v, want a refusal with %q", path, err, want)
		}
	}
	must.Do(t, os.Remove(filepath.Join(top, "second.key")))
	if _, err := keyfile.Audit.Open(filepath.Join(top, "dir", "audit.key"), ""); err != nil {
		t.Errorf("below the user's own link: %v", err)
	}
}

func TestTheWitnessIsNeverReadOrWrittenThroughALink(t *testing.T) {
	top := t.TempDir()
	victim, w := filepath.Join(top, "victim"), filepath.Join(top, "audit.key.head")
	plant := func(at string) {
		t.Helper()
		_ = os.Remove(at)
		must.Do(t, errors.Join(os.WriteFile(victim, []byte(`{"seq":1}`), 0o600), os.Symlink(victim, at)))
	}
	plant(w)
	if head, err := audit.Witness(w).Head(); head != nil || err == nil || !strings.Contains(err.Error(), "is a link") {
		t.Errorf("read through a link: %v, %v", head, err)
	}
	plant(w + ".new")
	must.Do(t, audit.Witness(w).Save(store.AuditHead{Seq: 7, Hash: make([]byte, 32)}))
	if text, _ := os.ReadFile(victim); string(text) != `{"seq":1}` {
		t.Errorf("written through a link: %q", text)
	}
	if head, err := audit.Witness(w).Head(); err != nil || head.Seq != 7 {
		t.Errorf("unexpected head %v, error %v", head, err)
	}
	must.Do(t, os.Chmod(top, 0o777))
	if err := audit.Witness(w).Save(store.AuditHead{Seq: 8}); err == nil || !strings.Contains(err.Error(), "chmod go-w") {
		t.Errorf("in a directory that others can write: %v", err)
	}
}
