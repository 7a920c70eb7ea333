package app

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"shardboard/internal/fault"
)

// A key that others can read, or a certificate that others can write, is refused at
// start and not loaded when it is replaced later.
func TestATLSKeyThatOthersCanReadIsNeverUsed(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writeCertificate(t, cert, key, "one")
	modes := func(c, k os.FileMode) {
		t.Helper()
		if err := errors.Join(os.Chmod(cert, c), os.Chmod(key, k)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		cert, key os.FileMode
		says      string
	}{{0o644, 0o644, "chmod 600 " + key}, {0o666, 0o600, "chmod go-w " + cert}} {
		modes(c.cert, c.key)
		if _, err := openCertificate(cert, key, slog.New(slog.DiscardHandler)); fault.Of(err) != fault.Invalid ||
			!strings.Contains(fault.Text(err), c.says) {
			t.Errorf("%o, %o: got %v, want a refusal with %q", c.cert, c.key, err, c.says)
		}
	}
	modes(0o644, 0o600)
	var log bytes.Buffer
	c, err := openCertificate(cert, key, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	c.now = func() time.Time { return now }
	first, later := c.pair, now.Add(time.Hour)
	writeCertificate(t, cert, key, "two")
	if err := errors.Join(os.Chtimes(cert, later, later), os.Chtimes(key, later, later)); err != nil {
		t.Fatal(err)
	}
	modes(0o644, 0o640)
	now = now.Add(certificateCheckInterval)
	if pair, _ := c.get(nil); pair != first || !strings.Contains(log.String(), "the old one stays") ||
		!strings.Contains(log.String(), "chmod 600") {
		t.Errorf("a key of mode 0640 was loaded, or not logged: %s", log.String())
	}
	modes(0o644, 0o600)
	now = now.Add(certificateCheckInterval)
	if pair, _ := c.get(nil); pair == first {
		t.Errorf("the key was not loaded after chmod 600: %s", log.String())
	}
}
