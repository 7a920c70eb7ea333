package mongoclient

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// The list is that of the driver, whose source is read because it does not say what it ignores.
func TestKnownOptionsAreThoseOfTheDriver(t *testing.T) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "go.mongodb.org/mongo-driver/v2").Output()
	must.Do(t, err)
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "x", "mongo", "driver", "connstring", "connstring.go"))
	must.Do(t, err)
	_, source, ok := strings.Cut(string(text), "func (u *ConnString) addOptions(")
	if !ok {
		_, source, ok = strings.Cut(string(text), "addOption(")
	}
	must.That(t, ok, "the driver's source has another form")
	source, _, _ = strings.Cut(source, "UnknownOptions")
	var names []string
	for _, m := range regexp.MustCompile(`(?m)^\t{1,2}case (".*"):`).FindAllStringSubmatch(source, -1) {
		for _, name := range regexp.MustCompile(`"(\w+)"`).FindAllStringSubmatch(m[1], -1) {
			names = append(names, name[1])
		}
	}
	for _, name := range names {
		expect.That(t, slices.Contains(known, name), "the driver reads %s", name)
	}
	for _, name := range known {
		expect.That(t, slices.Contains(names, name), "the driver does not read %s", name)
	}
}

func TestOptionsWithoutEffectAreNamedWithWhatToWrite(t *testing.T) {
	for query, want := range map[string]string{
		"sslCAFile=/ca.pem":                        "The option sslCAFile of the address is ignored: write tlsCAFile.",
		"tlsAllowInvalidHostnames=true":            "a certificate with the right names",
		"retryWritez=true":                         "The option retryWritez of the address is ignored: check its spelling.",
		"w=majority&retryWrites=true&tls=1":        "",
		"authSource=admin&AppName=x;maxPoolSize=3": "",
		"%73slcafile=x":                            "write tlsCAFile",
		"pa%20ss=x&b\"c=y":                         "", // no names: perhaps a part of a password
	} {
		got := strings.Join(Ignored("mongodb://h/db?"+query), " ")
		expect.That(t, (want != "" || got == "") && strings.Contains(got, want), "%s: %q, want %q", query, got, want)
	}
	if err := CheckProxy("mongodb://h/?proxyHost=p&tls=true"); fault.Of(err) != fault.Invalid ||
		!strings.Contains(fault.Text(err), "past the proxy") {
		t.Error(err)
	}
	for text, want := range map[string]string{"\ufeffmongodb://h": "BOM", `"mongodb://h"`: "quotes", "'mongodb://h'": "quotes", "mongodb://h": ""} {
		if err := CheckForm(text); (err == nil) != (want == "") || err != nil && !strings.Contains(fault.Text(err), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
