package alert

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/proxyenv"
	"shardboard/internal/fixture/refused"
)

// sendTest sends a test message and returns the outcome.
func sendTest(t *testing.T, e *Engine) (code string, status int) {
	t.Helper()
	d, err := e.Test(t.Context(), "ops", byAnna())
	must.Do(t, err)
	return d.Code, d.Status
}

func engineTo(t *testing.T, address, format string) *Engine {
	t.Helper()
	key := ""
	if format == PagerDuty {
		t.Setenv("ALERT_KEY", testKey)
		key = ", key_env: ALERT_KEY"
	}
	c := parseConfig(t, fmt.Sprintf("targets:\n- {name: ops, format: %s, url: %q%s}\n", format, address, key))
	return New(c, (&world{}).observe, nil, Options{})
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	var followed atomic.Bool
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed.Store(true) }))
	defer other.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL, status) }))
		if code, got := sendTest(t, engineTo(t, s.URL, Generic)); code != "redirect" || got != status {
			t.Errorf("redirect %d: unexpected code %s, status %d", status, code, got)
		}
		s.Close()
	}
	expect.That(t, !followed.Load(), "a redirect was followed")
}

func TestCertificatesAreChecked(t *testing.T) {
	var reached atomic.Bool
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Store(true) }))
	s.Config.ErrorLog = nil
	s.StartTLS()
	defer s.Close()
	if code, _ := sendTest(t, engineTo(t, s.URL, Generic)); code != "tls" || reached.Load() {
		t.Errorf("code %s, the receiver was reached: %v", code, reached.Load())
	}
}

func TestFailuresAreReportedByCodeAndStatusOnly(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, strings.Repeat("no ", 1<<20)) // more than the sender reads
	}))
	defer s.Close()
	if code, status := sendTest(t, engineTo(t, s.URL, Generic)); code != "status" || status != 403 {
		t.Errorf("unexpected code %s, status %d", code, status)
	}
	gone := httptest.NewServer(nil)
	gone.Close()
	if code, _ := sendTest(t, engineTo(t, gone.URL, Generic)); code != "refused" {
		t.Error(code)
	}
	refused.As(t, must.Err(engineTo(t, s.URL, Generic).Test(t.Context(), "none", byAnna())), fault.NotFound, "engineTo")
}

func TestReceiverAddressesAreNotDisclosed(t *testing.T) {
	c := parseConfig(t, oneTarget)
	e := New(c, (&world{}).observe, nil, Options{Transport: &receiver{fail: errLost}})
	d, err := e.Test(t.Context(), "ops", byAnna())
	for _, printed := range []string{fmt.Sprint(c), fmt.Sprintf("%+v", c), fmt.Sprintf("%#v", *c), fmt.Sprintf("%v", c.Targets[0]),
		fmt.Sprintf("%v", []any{c.Targets[0].to, c.Targets}),
		fmt.Sprintf("%+v", e.Status()), fmt.Sprintf("%+v %v", d, err)} {
		if strings.Contains(printed, "CANARY") || strings.Contains(printed, "hooks.example") {
			t.Errorf("the address is disclosed: %s", printed)
		}
	}
}

func TestAnInvalidAlertsFileIsRefusedWithoutQuotingAddresses(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "url")
	must.Do(t, os.WriteFile(path, []byte(canary+"\n"), 0o600))
	t.Setenv("ALERT_URL", canary)
	good := func(line string) string { return "targets:\n- {name: ops, format: slack, " + line + "}\n" }
	for _, line := range []string{`url: "` + canary + `"`, "url_file: " + path, "url_env: ALERT_URL"} {
		c, err := Parse("a.yaml", []byte(good(line)))
		if err != nil || c.Targets[0].to() != canary || c.Targets[0].MinSeverity != Warn || c.Targets[0].Repeat != defaultRepeat ||
			c.For != defaultFor {
			t.Errorf("%s: unexpected configuration %v, error %v", line, c, err)
		}
	}
	for name, text := range map[string]string{
		"empty": "", "no targets": "for: 1m\n", "no address": good("min_severity: info"),
		"two addresses": good(`url: "` + canary + `", url_env: ALERT_URL`),
		"not a URL":     good(`url: "CANARY"`), "another scheme": good(`url: "file:///CANARY"`),
		"no such file": good("url_file: " + dir + "/CANARY"), "an empty variable": good("url_env: NOT_SET"),
		"unknown field": good(`url: "` + canary + `", header: x`), "not YAML": "targets: [" + canary,
		"a wrong type": "targets: \"" + canary + "\"\n", "wrong severity": good(`url: "` + canary + `", min_severity: bad`),
		"too often": good(`url: "` + canary + `", repeat: 1s`), "no duration": "for: " + canary + "\n" + good(`url: "`+canary+`"`),
		"a name with a slash": strings.Replace(good(`url: "`+canary+`"`), "ops", "a/b", 1),
		"an odd link":         "link: \"https://x|y\"\n" + good(`url: "`+canary+`"`),
		"the same name twice": good(`url: "`+canary+`"`) + `- {name: ops, format: slack, url: "` + canary + `"}`,
	} {
		_, err := Parse("a.yaml", []byte(text))
		if fault.Of(err) != fault.Invalid || err == nil {
			t.Errorf("%s is accepted: %v", name, err)
			continue
		}
		if strings.Contains(err.Error(), "CANARY") && name != "no such file" || strings.Contains(fault.Text(err), "\n") {
			t.Errorf("%s: the error is %q", name, err)
		}
	}
	refused.As(t, must.Err(Read(filepath.Join(dir, "none.yaml"))), fault.Invalid, "Read")
}

func TestTheProxyOfTheEnvironmentIsUsed(t *testing.T) {
	proxyenv.Check(t, func(receiver string) {
		expect.That(t, !post(t.Context(), newClient(nil), newSecret(receiver), nil).ok(), "nobody is there")
	})
}

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
