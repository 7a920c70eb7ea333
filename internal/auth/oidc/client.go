package oidc

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

const maxAnswer = 1 << 20 // bytes; discovery documents and key sets have a few thousand

// client makes requests to an issuer: bounded in time and size. It follows no redirects, which
// discovery and token endpoints do not need. HTTPS_PROXY and NO_PROXY count, except for loopback. authorities are those
// that the issuer's certificate may be from; nil are those of the system.
func client(authorities *x509.CertPool) *http.Client {
	through := http.DefaultTransport
	if authorities != nil {
		own := http.DefaultTransport.(*http.Transport).Clone()
		own.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: authorities}
		through = own
	}
	return &http.Client{
		Timeout:   askWait,
		Transport: bounded{through},
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return errRedirect
		},
	}
}

var errRedirect = errors.New("the issuer redirects, which is not followed")

// bounded cuts answers that are too long; a cut answer fails to parse.
type bounded struct{ next http.RoundTripper }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := b.next.RoundTrip(r)
	if err == nil {
		res.Body = limited{io.LimitReader(res.Body, maxAnswer), res.Body}
	}
	return res, err
}

type limited struct {
	io.Reader
	io.Closer
}

// withoutURL removes the URL from an error, because it may contain secrets.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}
