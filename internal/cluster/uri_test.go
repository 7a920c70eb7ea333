package cluster

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

func TestAddressNeverShowsItsSecrets(t *testing.T) {
	const text = "mongodb://user:s3cret@h1:27017,h2:27018/admin" +
		"?authMechanismProperties=AWS_SESSION_TOKEN:t0ken&tlsCertificateKeyFilePassword=pa55"
	u := must.Get(ParseURI(text))
	marshalled := must.Get(json.Marshal(struct{ U URI }{u}))
	var logged strings.Builder
	slog.New(slog.NewTextHandler(&logged, nil)).Info("x", "uri", u, "in", struct{ U URI }{u})
	type wrapped struct{ inner URI }
	for _, shown := range []string{
		u.String(), u.Hosts(), fmt.Sprint(u), fmt.Sprintf("%v %+v %#v %s %q %x %d", u, u, u, u, u, u, u), fmt.Sprintf("%+v %#v", &u, &u),
		fmt.Sprintf("%+v %#v", wrapped{u}, wrapped{u}), fmt.Sprintf("%v", []any{u, &u}), string(marshalled), logged.String(),
	} {
		expect.LacksAll(t, shown, []string{"user", "s3cret", "t0ken", "pa55", "admin"}, "what is shown")
	}
	expect.Equal(t, u.String(), "mongodb://h1:27017,h2:27018", "shown as %s", u)
}

func TestBadAddressesAreRefusedWithoutRepeatingThem(t *testing.T) {
	for _, text := range []string{
		"", "   ", "http://s3cret@h/", "s3cret", "mongodb://", "mongodb://u:s3cret@", "mongodb://u:s3cr@et@h/", "mongodb://u:s3c/ret@h:1/",
		"mongodb://u:s3cret@h:99999/", "mongodb://u:s3cret@h/?w=-5", "mongodb://u:s3cret@h/?tls=maybe", "mongodb://u:s%ZZ3cret@h/",
	} {
		_, err := ParseURI(text)
		if fault.Of(err) != fault.Invalid {
			t.Errorf("%q: %v", text, err)
			continue
		}
		expect.LacksAll(t, err.Error(), []string{"s3c", "ret@", "ZZ"}, "%q is repeated in %q", text, err)
	}
}

func TestOptionsThatCannotWorkHaveASentenceEach(t *testing.T) {
	for _, c := range [][2]string{
		{"mongodb://h/?replicaSet=rs0", "replicaSet=… makes the driver"},
		{"mongodb://h/?directConnection=true", ""},
		{"mongodb://a,b/?directConnection=true", "and the address names several"},
		{"mongodb+srv://h.example.com/?directConnection=true", "and a mongodb+srv://"},
		{"mongodb://h/?loadBalanced=true", ""},
		{"mongodb://a,b/?loadBalanced=true", "loadBalanced=true is for the one host"},
		{"mongodb://h/?loadBalanced=true&directConnection=true", "exclude each other"},
		{"mongodb://h/?compressors=zstd,snappy,zlib&zlibCompressionLevel=6", ""},
		{"mongodb://h/?compressors=zstd,lz4", "use snappy, zlib, zstd"},
		{"mongodb://h/?readPreference=secondary&readConcernLevel=local&w=majority", ""},
		{"mongodb://h/?authMechanism=MONGODB-AWS&authSource=$external", ""},
		{"mongodb+srv://h.example.com/?authMechanism=MONGODB-AWS&authSource=$external", ""},
		{"mongodb://u:p@h/?authMechanism=PLAIN&authSource=$external", "add tls=true"},
		{"mongodb://u:p@h/?authMechanism=PLAIN&authSource=$external&tls=true", ""},
		{"mongodb://u@h/?authMechanism=GSSAPI", "Kerberos"},
		{"mongodb://h/?authMechanism=MONGODB-OIDC", "identity of a workload only"},
		{"mongodb://h/?authMechanism=MONGODB-OIDC&authMechanismProperties=ENVIRONMENT:k8s", ""},
		{"mongodb://h/?authMechanism=MONGODB-OIDC&authMechanismProperties=ENVIRONMENT:cloud", "identity of a workload only"},
		{"mongodb+srv://h.example.com/?authMechanism=MONGODB-OIDC&authMechanismProperties=ENVIRONMENT:gcp,TOKEN_RESOURCE:x", ""},
		{"mongodb://u:p@h/?authMechanism=MONGODB-CR", "is not known"},
	} {
		text, want := c[0], c[1]
		switch _, err := ParseURI(text); {
		case want == "" && err != nil:
			t.Errorf("%s: %v", text, err)
		case want != "" && (fault.Of(err) != fault.Invalid || !strings.Contains(fault.Text(err), want)):
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestAddressIsReadFromAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "uri")
	must.Do(t, os.WriteFile(path, []byte("mongodb://u:p@h:1/\n# comment\n"), 0o600))
	u, err := ReadURI(path)
	must.That(t, err == nil && u.Hosts() == "h:1", "%v, %v", u, err)
	var flag URI
	if err := flag.UnmarshalText([]byte("mongodb+srv://u:p@cluster.example.com/")); err != nil ||
		flag.String() != "mongodb+srv://cluster.example.com" {
		t.Fatalf("%v, %v", flag, err)
	}
}

func TestUnreadableAddressFileIsNamedWithTheReason(t *testing.T) {
	dir := t.TempDir()
	if _, err := ReadURI(filepath.Join(dir, "nope")); fault.Of(err) != fault.Invalid ||
		!strings.Contains(fault.Text(err), filepath.Join(dir, "nope")) || !strings.Contains(fault.Text(err), "no such file") {
		t.Error(err)
	}
	expect.Contains(t, fault.Text(must.Err(ReadURI(dir))), "is a directory", "ReadURI")
	if _, err := ReadURI("mongodb://u:s3cret@h/"); fault.Of(err) != fault.Invalid || strings.Contains(err.Error(), "s3cret") {
		t.Error(err)
	}
}

func TestSecretInAnAddressIsDetected(t *testing.T) {
	for text, want := range map[string]bool{
		"mongodb://h:1/": false, "mongodb://u@h:1/": false, "mongodb://u:@h:1/": false, "mongodb://u:p@h:1,h:2": true,
		"mongodb+srv://u:p@c.example/?w=1": true,
		"mongodb://u@h:1/?appName=a@b":     false, "mongodb://h/?tlsCertificateKeyFilePassword=x&tls=true": true,
		"mongodb://h/?appName=x&TLSCertificateKeyFilePassword=":          false,
		"mongodb+srv://h/?authMechanismProperties=AWS_SESSION_TOKEN%3ax": true, "mongodb+srv://h/?authMechanismProperties=SERVICE_NAME:x": false,
	} {
		u, err := ParseURI(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if u.HoldsSecret() != want {
			t.Errorf("%s: %v", text, !want)
		}
	}
	expect.That(t, !(URI{}).HoldsSecret(), "no address holds a secret")
}
