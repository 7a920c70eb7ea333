package alert

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/must"
)

func TestAnAlertsFileWithAddressesIsASecret(t *testing.T) {
	dir := t.TempDir()
	written := func(name, text string, mode os.FileMode) string {
		t.Helper()
		path := filepath.Join(dir, name)
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
		must.Do(t, os.Chmod(path, mode))
		return path
	}
	url := written("url", canary+"\n", 0o600)
	inline, named := "targets: [{name: ops, format: slack, url: \""+canary+
		"\"}]\n", "targets: [{name: ops, format: slack, url_file: "+url+"}]\n"
	for _, c := range []struct {
		name, text string
		mode       os.FileMode
		url        os.FileMode
		says       string // text of the refusal; "": accepted
	}{
		{"addresses, ours alone", inline, 0o600, 0o600, ""},
		{"addresses, others read", inline, 0o644, 0o600, "chmod 600 "},
		{"no addresses, others read", named, 0o644, 0o600, ""},
		{"no addresses, others write", named, 0o666, 0o600, "chmod go-w "},
		{"others read the address's file", named, 0o600, 0o644, "chmod 600 " + url},
	} {
		must.Do(t, os.Chmod(url, c.url))
		got, err := Read(written("alerts.yaml", c.text, c.mode))
		switch {
		case c.says == "" && (err != nil || len(got.Targets) != 1):
			t.Errorf("%s: unexpected error: %v", c.name, err)
		case c.says != "" &&
			(fault.Of(err) != fault.Invalid || !strings.Contains(fault.Text(err), c.says) || strings.Contains(err.Error(), "CANARY")):
			t.Errorf("%s: found %v, expected a refusal with %q", c.name, err, c.says)
		}
	}
}
