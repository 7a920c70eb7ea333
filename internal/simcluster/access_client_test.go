package simcluster

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/md5"
	"crypto/pbkdf2"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash"
	"net"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/access"
	"shardboard/internal/simcluster/wire"
)

// rawClient sends commands without a driver, exactly as given.
type rawClient struct {
	t    testing.TB
	conn net.Conn
	in   *bufio.Reader
	sent int32
}

func newRawClient(t testing.TB, c *Cluster) *rawClient {
	t.Helper()
	conn, err := c.DialContext(t.Context(), "", "")
	must(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return &rawClient{t: t, conn: conn, in: bufio.NewReader(conn)}
}

// runRaw runs a command; the fields are appended to its body.
func (p *rawClient) runRaw(cmd any, more ...bson.E) bson.Raw {
	p.t.Helper()
	raw, err := bson.Marshal(cmd)
	must(p.t, err)
	var body bson.D
	must(p.t, bson.Unmarshal(raw, &body))
	p.sent++
	message := wire.AppendMsg(nil, p.sent, 0, 0, encode(append(body, more...)))
	if _, err := p.conn.Write(message); err != nil {
		p.t.Fatal(err)
	}
	m, err := wire.Read(p.in)
	must(p.t, err)
	return m.Body
}

// runOn runs a command against a database.
func (p *rawClient) runOn(db string, cmd bson.D) bson.Raw {
	p.t.Helper()
	return p.runRaw(cmd, bson.E{Key: "$db", Value: db})
}

// signIn is the client side of RFC 5802. It returns the last reply.
func (p *rawClient) signIn(mechanism, user, password string) bson.Raw {
	p.t.Helper()
	start := func(payload string) bson.Raw {
		return p.runOn("admin", d("saslStart", 1, "mechanism", mechanism, "payload", []byte(payload), "options", d("skipEmptyExchange", true)))
	}
	const bare = "n=%s,r=fyko+d2lbbFgONRv9qkxdawL"
	first := fmt.Sprintf(bare, strings.NewReplacer("=", "=3D", ",", "=2C").Replace(user))
	reply := start("n,," + first)
	if !truthy(reply.Lookup("ok")) {
		return reply
	}
	_, challenge := reply.Lookup("payload").Binary()
	var nonce, salt string
	iterations := 0
	for _, f := range strings.Split(string(challenge), ",") {
		switch f[:2] {
		case "r=":
			nonce = f[2:]
		case "s=":
			salt = f[2:]
		case "i=":
			_, _ = fmt.Sscan(f[2:], &iterations)
		}
	}
	without := "c=biws,r=" + nonce
	proof, server := scramProof(p.t, mechanism, user, password, salt, iterations, first+","+string(challenge)+","+without)
	reply = p.runOn("admin", d("saslContinue", 1, "conversationId", 1, "payload", []byte(without+",p="+proof)))
	if truthy(reply.Lookup("ok")) {
		if _, v := reply.Lookup("payload").Binary(); string(v) != "v="+server || !reply.Lookup("done").Boolean() {
			p.t.Fatalf("the server's own proof is %q, want v=%s", v, server)
		}
	}
	return reply
}

func scramProof(t testing.TB, mechanism, user, password, salt string, iterations int, message string) (proof, server string) {
	t.Helper()
	h := func() hash.Hash { return sha256.New() }
	if mechanism == "SCRAM-SHA-1" {
		h = func() hash.Hash { return sha1.New() }
		sum := md5.Sum([]byte(user + ":mongo:" + password))
		password = hex.EncodeToString(sum[:])
	}
	raw, err := base64.StdEncoding.DecodeString(salt)
	must(t, err)
	salted, err := pbkdf2.Key(h, password, raw, iterations, h().Size())
	must(t, err)
	mac := func(key []byte, s string) []byte { m := hmac.New(h, key); m.Write([]byte(s)); return m.Sum(nil) }
	key := mac(salted, "Client Key")
	stored := h()
	stored.Write(key)
	signature := mac(stored.Sum(nil), message)
	for i := range key {
		key[i] ^= signature[i]
	}
	b64 := base64.StdEncoding.EncodeToString
	return b64(key), b64(mac(mac(salted, "Server Key"), message))
}

// signedIn opens a connection and signs in.
func signedIn(t testing.TB, c *Cluster, user, password string) *rawClient {
	t.Helper()
	p := newRawClient(t, c)
	if reply := p.signIn("SCRAM-SHA-256", user, password); !truthy(reply.Lookup("ok")) {
		t.Fatalf("%s: %s", user, reply)
	}
	return p
}

// guardedCluster is a cluster with access control and one user, root.
func guardedCluster(t testing.TB) *Cluster {
	t.Helper()
	return emptyCluster(t, func(o *Options) { o.Users = []access.User{{Name: "root", Password: "root-pw"}} })
}

// wantError fails the test unless the reply is this error.
func wantError(t testing.TB, reply bson.Raw, code int32, text string) {
	t.Helper()
	if truthy(reply.Lookup("ok")) || reply.Lookup("code").Int32() != code ||
		!bytes.Contains([]byte(reply.Lookup("errmsg").StringValue()), []byte(text)) {
		t.Errorf("got %s, want error %d with %q", reply, code, text)
	}
}

func wantOK(t testing.TB, reply bson.Raw) bson.Raw {
	t.Helper()
	if !truthy(reply.Lookup("ok")) {
		t.Errorf("got %s, want ok", reply)
	}
	return reply
}
