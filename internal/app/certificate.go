package app

import (
	"crypto/tls"
	"log/slog"
	"os"
	"sync"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/fileperm"
)

const (
	certificateCheckInterval = time.Minute
	maxPEM                   = 1 << 20 // bytes of each file
)

// certificate is a pair of files that may be replaced while the server runs. At most once a minute,
// a handshake checks whether they were.
type certificate struct {
	cert, key string
	log       *slog.Logger
	now       func() time.Time

	mu      sync.Mutex
	pair    *tls.Certificate
	stamp   [2]time.Time // modification times of the files of pair
	checked time.Time
}

func openCertificate(cert, key string, log *slog.Logger) (*certificate, error) {
	c := &certificate{cert: cert, key: key, log: log, now: time.Now}
	c.stamp, c.checked = c.stamps(), c.now()
	pair, err := loadPair(cert, key)
	if err != nil {
		return nil, err
	}
	c.pair = &pair
	return c, nil
}

// loadPair reads both files. Others may read but not write the certificate, and may not read the
// key.
func loadPair(cert, key string) (tls.Certificate, error) {
	public, err := fileperm.ReadPublic("TLS certificate", cert, maxPEM)
	if err != nil {
		return tls.Certificate{}, err
	}
	secret, err := fileperm.ReadSecret("key of the TLS certificate", key, maxPEM)
	if err != nil {
		return tls.Certificate{}, err
	}
	pair, err := tls.X509KeyPair(public, secret)
	return pair, fault.Wrap(fault.Invalid, err, "The TLS certificate %s and its key %s cannot be used: %v.", cert, key, err)
}

func (c *certificate) config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: c.get}
}

func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.now(); now.Sub(c.checked) >= certificateCheckInterval {
		c.checked = now
		c.reload()
	}
	return c.pair, nil
}

// reload keeps the old pair while the new one is unusable: between the writing of the two files
// they do not match.
func (c *certificate) reload() {
	stamp := c.stamps()
	if stamp == c.stamp {
		return
	}
	pair, err := loadPair(c.cert, c.key)
	if err != nil {
		c.log.Error("the new TLS certificate cannot be used; the old one stays", "err", err)
		return
	}
	c.pair, c.stamp = &pair, stamp
	c.log.Info("the TLS certificate was replaced")
}

func (c *certificate) stamps() (out [2]time.Time) {
	for i, path := range []string{c.cert, c.key} {
		if info, err := os.Stat(path); err == nil {
			out[i] = info.ModTime()
		}
	}
	return out
}
