package app

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/refused"
)

// writeCertificate writes a self-signed certificate for loopback.
func writeCertificate(t *testing.T, cert, key, name string) {
	t.Helper()
	private := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	form := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der := must.Get(x509.CreateCertificate(rand.Reader, form, form, &private.PublicKey, private))
	text := must.Get(x509.MarshalPKCS8PrivateKey(private))
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: text}} {
		must.Do(t, os.WriteFile(path, pem.EncodeToMemory(block), 0o600))
	}
}

// A key that others can read, or a certificate that others can write, is refused at start. A certificate that is
// replaced later is loaded, unless it is not one or others can read its key.
func TestAReplacedCertificateIsReloadedUnlessItIsUnsafe(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	written := time.Now()
	replace := func(name string, certMode, keyMode os.FileMode) {
		t.Helper()
		writeCertificate(t, cert, key, name)
		if name == "" {
			_ = os.WriteFile(cert, []byte("half a file"), 0o600)
		}
		written = written.Add(time.Hour)
		err := errors.Join(os.Chmod(cert, certMode), os.Chmod(key, keyMode), os.Chtimes(cert, written, written),
			os.Chtimes(key, written, written))
		must.Do(t, err)
	}
	for _, c := range []struct {
		cert, key os.FileMode
		says      string
	}{{0o644, 0o644, "chmod 600 " + key}, {0o666, 0o600, "chmod go-w " + cert}} {
		replace("zero", c.cert, c.key)
		_, err := openCertificate(cert, key, slog.New(slog.DiscardHandler))
		expect.That(t, fault.Of(err) == fault.Invalid && strings.Contains(fault.Text(err), c.says),
			"%o, %o: got %v, want a refusal with %q", c.cert, c.key, err, c.says)
	}
	refused.As(t, must.Err(openCertificate(cert, "/no/such/key", slog.New(slog.DiscardHandler))), fault.Invalid, "openCertificate")
	replace("one", 0o644, 0o600)
	var log bytes.Buffer
	c, err := openCertificate(cert, key, slog.New(slog.NewTextHandler(&log, nil)))
	must.Do(t, err)
	now := time.Now()
	c.now = func() time.Time { return now }
	for _, next := range []struct {
		name string
		key  os.FileMode
		want string
	}{{"", 0o600, "one"}, {"two", 0o640, "one"}, {"three", 0o600, "three"}} {
		replace(next.name, 0o644, next.key)
		now = now.Add(certificateCheckInterval)
		pair, err := c.get(nil)
		must.Do(t, err)
		if leaf, err := x509.ParseCertificate(pair.Certificate[0]); err != nil || leaf.Subject.CommonName != next.want {
			t.Errorf("after %q with mode %o: %v, %v; want %q", next.name, next.key, leaf.Subject, err, next.want)
		}
	}
	expect.That(t, strings.Contains(log.String(), "the old one stays") && strings.Contains(log.String(), "chmod 600"),
		"the log does not say why the key of mode 0640 was not loaded: %s", log.String())
}
