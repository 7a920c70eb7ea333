package live

import (
	"bytes"
	"encoding/binary"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// openSocket is a socket over the kernel's connections, and its browser, which reads only
// what a test lets it read.
func openSocket(t *testing.T) (*socket, *websocket.Conn) {
	t.Helper()
	c := &socket{}
	return c, connect(t, c)
}

func connect(t *testing.T, c *socket) *websocket.Conn {
	t.Helper()
	opened := make(chan error, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := upgrade(w, r, nil, func(status int) { w.WriteHeader(status) })
		if err == nil {
			c.connected(conn)
		}
		opened <- err
	}))
	t.Cleanup(server.Close)
	browser, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(server.URL, "http"), nil)
	must.Do(t, err)
	must.Do(t, <-opened)
	t.Cleanup(func() {
		c.kill()
		c.writer.Wait()
		_ = browser.Close()
	})
	return browser
}

// numbered is a large message that begins with a number.
func numbered(t *testing.T, n int) *wsMessage {
	t.Helper()
	m, err := prepare(websocket.BinaryMessage, append(binary.BigEndian.AppendUint32(nil, uint32(n)), bytes.Repeat([]byte("x"), 200<<10)...))
	must.Do(t, err)
	return m
}

// fallBehind pushes more than the browser, which does not read, can be sent; it returns how many messages.
func fallBehind(t *testing.T, c *socket) (pushed int) {
	t.Helper()
	for waiting := 0; waiting < MaxQueuedFrame/2; pushed++ {
		c.push(numbered(t, pushed))
		c.mu.Lock()
		waiting = len(c.queue)
		c.mu.Unlock()
	}
	for taken := false; !taken; time.Sleep(time.Millisecond) { // until the writer has begun
		c.mu.Lock()
		taken = len(c.queue) < pushed
		c.mu.Unlock()
	}
	return pushed
}

func TestABrowserThatFellBehindGetsEverythingInOrder(t *testing.T) {
	c, browser := openSocket(t)
	pushed := fallBehind(t, c)
	for n := range pushed {
		_, data, err := browser.ReadMessage()
		must.That(t, err == nil && binary.BigEndian.Uint32(data) == uint32(n) && len(data) == 4+200<<10,
			"message %d: %d bytes, %v", n, len(data), err)
	}
	c.writer.Wait()
	expect.That(t, !c.writing, "its writer has not ended")
	c.push(numbered(t, pushed))
	_, data, err := browser.ReadMessage()
	expect.That(t, err == nil && binary.BigEndian.Uint32(data) == uint32(pushed), "after it caught up: %v", err)
}

func TestABrowserThatDoesNotReadIsClosedAndPushNeverWaits(t *testing.T) {
	c, _ := openSocket(t)
	m := numbered(t, 1)
	for {
		c.push(m)
		c.mu.Lock()
		over, waits := c.over, len(c.queue)
		c.mu.Unlock()
		if over {
			break
		}
		must.That(t, waits <= MaxQueuedFrame, "%d frames wait", waits)
	}
	c.writer.Wait() // its writer has ended too
}

func TestAGoodbyeDoesNotWaitForABrowserThatIsBehind(t *testing.T) {
	c, browser := openSocket(t)
	fallBehind(t, c)
	c.leave()
	c.writer.Wait()
	_, _, err := browser.ReadMessage()
	expect.NoError(t, err, "what was sent before is lost")
}

func TestAGoodbyeArrivesAlsoWhenItWasSaidDuringTheHandshake(t *testing.T) {
	c, browser := openSocket(t)
	c.part(CloseEnded)
	_, _, err := browser.ReadMessage()
	expect.That(t, websocket.IsCloseError(err, CloseEnded), "ended with %v", err)
	early := &socket{}
	early.part(CloseEnded)
	_, _, err = connect(t, early).ReadMessage()
	expect.That(t, websocket.IsCloseError(err, CloseEnded), "ended before the handshake: %v", err)
}
