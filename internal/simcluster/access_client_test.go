package simcluster

import (
	"bufio"
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"net"
	"testing"

	"github.com/xdg-go/scram"
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
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
	must.Do(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return &rawClient{t: t, conn: conn, in: bufio.NewReader(conn)}
}

// runRaw runs a command; the fields are appended to its body.
func (p *rawClient) runRaw(cmd any, more ...bson.E) bson.Raw {
	p.t.Helper()
	raw := must.Get(bson.Marshal(cmd))
	var body bson.D
	must.Do(p.t, bson.Unmarshal(raw, &body))
	p.sent++
	message := wire.AppendMsg(nil, p.sent, 0, encode(append(body, more...)))
	must.Do(p.t, must.Err(p.conn.Write(message)))
	m, err := wire.Read(p.in)
	must.Do(p.t, err)
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
	h := scram.SHA256
	if mechanism == "SCRAM-SHA-1" {
		h = scram.SHA1
		sum := md5.Sum([]byte(user + ":mongo:" + password))
		password = hex.EncodeToString(sum[:])
	}
	client, err := h.NewClientUnprepped(user, password, "")
	must.Do(p.t, err)
	talk := client.NewConversation()
	say := func(heard string, cmd bson.D) bson.Raw {
		message, err := talk.Step(heard)
		must.Do(p.t, err)
		return p.runOn("admin", append(cmd, d("payload", []byte(message), "options", d("skipEmptyExchange", true))...))
	}
	reply := say("", d("saslStart", 1, "mechanism", mechanism))
	if !truthy(reply.Lookup("ok")) {
		return reply
	}
	_, challenge := reply.Lookup("payload").Binary()
	reply = say(string(challenge), d("saslContinue", 1, "conversationId", 1))
	if truthy(reply.Lookup("ok")) {
		_, proof := reply.Lookup("payload").Binary()
		if _, err := talk.Step(string(proof)); err != nil || !talk.Valid() || !reply.Lookup("done").Boolean() {
			p.t.Fatalf("the server's own proof is %q: %v", proof, err)
		}
	}
	return reply
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
	expect.That(t, truthy(reply.Lookup("ok")), "got %s, want ok", reply)
	return reply
}
