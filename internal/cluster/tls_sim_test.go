package cluster_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/dns"

	"shardboard/internal/cluster"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
	"shardboard/internal/simcluster/access"
)

// pki is a certificate authority with its files in a directory of the test.
type pki struct {
	t    *testing.T
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	ca   []byte
}

func newPKI(t *testing.T) *pki {
	t.Helper()
	p := &pki{t: t, dir: t.TempDir(), key: newKey()}
	root := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "CA"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	der := must.Get(x509.CreateCertificate(rand.Reader, root, root, &p.key.PublicKey, p.key))
	p.cert = must.Get(x509.ParseCertificate(der))
	p.ca = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return p
}

func newKey() *ecdsa.PrivateKey { return must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)) }

// issue makes a certificate for a name, and its key.
func (p *pki) issue(name string) (cert, key []byte) {
	p.t.Helper()
	own := newKey()
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()),
		Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, NotAfter: time.Now().Add(time.Hour),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}, p.cert, &own.PublicKey, p.key)
	must.Do(p.t, err)
	secret := must.Get(x509.MarshalPKCS8PrivateKey(own))
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})
}

// file writes texts into a file that only its owner may read, and returns its name.
func (p *pki) file(name string, texts ...[]byte) string {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	var all []byte
	for _, text := range texts {
		all = append(all, text...)
	}
	must.Do(p.t, os.WriteFile(path, all, 0o600))
	must.Do(p.t, os.Chtimes(path, time.Now(), time.Now()))
	return path
}

// onTLS runs a test in a bubble with a simulated cluster at mongos.example that speaks TLS only,
// and has the user jo with a password and the one of the certificate board.
func onTLS(t *testing.T, certificateOptional bool, test func(t *testing.T, p *pki, network *hosts, sim *simcluster.Cluster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := newPKI(t)
		cert, key := p.issue("mongos.example")
		config, err := simcluster.TLSConfig(simcluster.Certificates{Server: cert, Key: key, ClientCA: p.ca,
			OptionalForClients: certificateOptional})
		must.Do(t, err)
		sim := must.Get(simcluster.New(t.Context(), simcluster.Options{Projects: 2, Documents: 10, Still: true, TLS: config,
			Users: []access.User{{Name: "jo", Password: "s3cret"}}}))
		defer func() { _ = sim.Close() }()
		must.Do(t, run(t, sim, "$external", bson.D{{Key: "createUser", Value: "CN=board"}, {Key: "roles", Value: bson.A{
			bson.D{{Key: "role", Value: "clusterMonitor"}, {Key: "db", Value: "admin"}}}}}))
		network := newHosts()
		network.lead("mongos.example:27017", sim)
		p.file("ca.pem", p.ca)
		boardCert, boardKey := p.issue("board")
		p.file("board.pem", boardCert, boardKey)
		p.file("board.crt", boardCert)
		p.file("board.key", boardKey)
		eveCert, eveKey := p.issue("eve")
		p.file("eve.pem", eveCert, eveKey)
		foreignCert, foreignKey := newPKI(t).issue("board")
		p.file("foreign.pem", foreignCert, foreignKey)
		test(t, p, network, sim)
	})
}

func TestTLSAndEveryWayToSignIn(t *testing.T) {
	for name, c := range map[string]struct {
		optional bool
		options  string // DIR is the directory of certificates
		user     string // who is signed in then
		says     string // or the error
	}{
		"SCRAM-SHA-256":   {true, "jo:s3cret@?tls=true&tlsCAFile=DIR/ca.pem&authMechanism=SCRAM-SHA-256", "jo@admin", ""},
		"SCRAM-SHA-1":     {true, "jo:s3cret@?tls=true&tlsCAFile=DIR/ca.pem&authMechanism=SCRAM-SHA-1", "jo@admin", ""},
		"client cert too": {false, "jo:s3cret@?tls=true&tlsCAFile=DIR/ca.pem&tlsCertificateKeyFile=DIR/board.pem", "jo@admin", ""},
		"x509": {false, "?tlsCAFile=DIR/ca.pem&tlsCertificateKeyFile=DIR/board.pem&authMechanism=MONGODB-X509",
			"CN=board@$external", ""},
		"x509, two files": {false,
			"?tlsCAFile=DIR/ca.pem&tlsCertificateFile=DIR/board.crt&tlsPrivateKeyFile=DIR/board.key&authMechanism=MONGODB-X509",
			"CN=board@$external", ""},
		"x509 of nobody": {false, "?tlsCAFile=DIR/ca.pem&tlsCertificateKeyFile=DIR/eve.pem&authMechanism=MONGODB-X509", "", "refused"},
		"x509 with the name of another": {false,
			"CN%3Dboard@?tlsCAFile=DIR/ca.pem&tlsCertificateKeyFile=DIR/eve.pem&authMechanism=MONGODB-X509", "", "refused"},
		"x509 without certificate": {true, "?tlsCAFile=DIR/ca.pem&authMechanism=MONGODB-X509", "", "refused"},
		"certificate of another authority": {false,
			"?tlsCAFile=DIR/ca.pem&tlsCertificateKeyFile=DIR/foreign.pem&authMechanism=MONGODB-X509", "", "cannot be reached"},
		"wrong password":    {true, "jo:n0t@?tls=true&tlsCAFile=DIR/ca.pem", "", "refused the user name or password"},
		"no client cert":    {false, "jo:s3cret@?tls=true&tlsCAFile=DIR/ca.pem", "", "cannot be reached"},
		"unknown authority": {true, "jo:s3cret@?tls=true", "", "name it with tlsCAFile"},
		"no TLS":            {true, "jo:s3cret@", "", "may want TLS"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onTLS(t, c.optional, func(t *testing.T, p *pki, network *hosts, _ *simcluster.Cluster) {
				before, after, found := strings.Cut(c.options, "@")
				if !found {
					before, after = "", before
				} else {
					before += "@"
				}
				uri, err := cluster.ParseURI("mongodb://" + before + "mongos.example/" + strings.ReplaceAll(after, "DIR", p.dir))
				must.Do(t, err)
				client, err := cluster.Connect(t.Context(), uri, cluster.Options{Dialer: network})
				if c.says != "" {
					if err == nil || !strings.Contains(fault.Text(err), c.says) || strings.Contains(err.Error(), "s3cret") {
						t.Fatal(err)
					}
					return
				}
				must.Do(t, err)
				defer func() { _ = client.Close(context.Background()) }()
				id, err := client.Identity(t.Context())
				expect.That(t, err == nil && strings.Join(id.Users, " ") == c.user, "%v, %v", id.Users, err)
			})
		})
	}
}

func TestRenewedClientCertificateIsTakenOver(t *testing.T) {
	onTLS(t, false, func(t *testing.T, p *pki, network *hosts, sim *simcluster.Cluster) {
		uri := must.Get(cluster.ParseURI("mongodb://mongos.example/?tlsCAFile=" + p.dir + "/ca.pem&tlsCertificateKeyFile=" + p.dir +
			"/board.pem&authMechanism=MONGODB-X509"))
		client := must.Get(cluster.Connect(t.Context(), uri, cluster.Options{Dialer: network}))
		defer func() { _ = client.Close(context.Background()) }()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- client.Watch(ctx) }()
		defer func() { cancel(); <-done }()
		must.Do(t, run(t, sim, "$external", bson.D{{Key: "createUser", Value: "CN=renewed"}, {Key: "roles", Value: bson.A{
			bson.D{{Key: "role", Value: "clusterMonitor"}, {Key: "db", Value: "admin"}}}}}))
		time.Sleep(time.Minute)
		cert, key := p.issue("renewed")
		p.file("board.pem", cert) // half of it, as while a file is written
		time.Sleep(10 * time.Second)
		if now := client.Connection(); !strings.Contains(now.FileError, "the log has the cause") {
			t.Errorf("%+v", now)
		}
		p.file("board.pem", cert, key)
		time.Sleep(15 * time.Second)
		id, err := client.Identity(t.Context())
		if err != nil || strings.Join(id.Users, " ") != "CN=renewed@$external" || client.Connection().FileError != "" {
			t.Errorf("%v, %v, %+v", id.Users, err, client.Connection())
		}
	})
}

func TestFilesOfTheAddressAreCheckedWithASentenceEach(t *testing.T) {
	p := newPKI(t)
	cert, key := p.issue("board")
	_, otherKey := p.issue("other")
	p.file("good.pem", cert, key)
	p.file("ca.pem", p.ca)
	p.file("other.pem", cert, otherKey)
	p.file("nokey.pem", cert)
	p.file("text.pem", []byte("not PEM"))
	open := p.file("open.pem", cert, key)
	must.Do(t, os.Chmod(open, 0o644))
	for options, says := range map[string]string{
		"tlsCertificateKeyFile=DIR/good.pem&tlsCAFile=DIR/ca.pem": "",
		"tlsCertificateKeyFile=DIR/none.pem":                      "no such file",
		"tlsCertificateKeyFile=DIR/other.pem":                     "the key does not belong to the certificate",
		"tlsCertificateKeyFile=DIR/nokey.pem":                     "has no private key",
		"tlsCertificateKeyFile=DIR/open.pem":                      "chmod",
		"tlsCAFile=DIR/text.pem":                                  "has no certificate in PEM format",
		"tlsCAFile=DIR":                                           "is a directory",
	} {
		_, err := cluster.ParseURI("mongodb://h/?tls=true&" + strings.ReplaceAll(options, "DIR", p.dir))
		if says == "" && err != nil || says != "" && (fault.Of(err) != fault.Invalid || !strings.Contains(fault.Text(err), says)) {
			t.Errorf("%s: %v", options, err)
		}
	}
}

// records is the DNS of a test: the targets of one SRV record; none: no such name.
type records struct {
	mu      sync.Mutex
	targets []string
}

func (r *records) set(targets ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.targets = targets
}

// lookUp answers in place of the machine's resolver, which the driver asks through a
// variable of its package.
func (r *records) lookUp(t *testing.T) {
	t.Helper()
	before := *dns.DefaultResolver
	t.Cleanup(func() { *dns.DefaultResolver = before })
	dns.DefaultResolver.LookupTXT = func(string) ([]string, error) { return nil, nil }
	dns.DefaultResolver.LookupSRV = func(service, proto, name string) (string, []*net.SRV, error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if len(r.targets) == 0 {
			return "", nil, &net.DNSError{Err: "no such host", Name: "_" + service + "._" + proto + "." + name, IsNotFound: true}
		}
		var out []*net.SRV
		for _, target := range r.targets {
			out = append(out, &net.SRV{Target: target + ".", Port: 27017})
		}
		return name, out, nil
	}
}

func TestServersOfASRVRecordAreFoundAndFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := must.Get(simcluster.New(t.Context(), simcluster.Options{Projects: 2, Documents: 10, Still: true}))
		defer func() { _ = sim.Close() }()
		var names records
		names.lookUp(t)
		uri := must.Get(cluster.ParseURI("mongodb+srv://db.example.com/?tls=false"))
		network := newHosts()
		c, err := cluster.Open(uri, cluster.Options{Dialer: network})
		must.Do(t, err)
		defer func() { _ = c.Close(context.Background()) }()

		if _, err := c.Shards(t.Context()); fault.Of(err) != fault.Unavailable ||
			!strings.Contains(fault.Text(err), "DNS knows no MongoDB servers of db.example.com") {
			t.Fatal(err)
		}
		network.lead("m1.example.com:27017", sim)
		names.set("m1.example.com")
		eventually(t, c, 15*time.Second)

		names.set("m2.example.com") // the driver asks every minute
		network.lead("m2.example.com:27017", sim)
		time.Sleep(2 * time.Minute)
		network.lead("m1.example.com:27017", nil)
		eventually(t, c, 15*time.Second)
		if e := c.Connection().Endpoints; len(e) != 1 || e[0].Address != "m2.example.com:27017" || !e[0].Up {
			t.Errorf("%+v", e)
		}
	})
}
