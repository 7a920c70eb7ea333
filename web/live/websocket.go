package live

import (
	"bufio"
	"net"
	"net/http"
	"sync"

	"github.com/gorilla/websocket"
)

// All that is gorilla's is in this file.

type wsConn = websocket.Conn

const closeGoingAway = websocket.CloseGoingAway

func isUpgrade(r *http.Request) bool { return websocket.IsWebSocketUpgrade(r) }

// upgrade takes a request's connection over. The handshake is checked here and the origin outside, more
// strictly.
func upgrade(w http.ResponseWriter, r *http.Request, header http.Header, fail func(status int)) (*wsConn, error) {
	up := websocket.Upgrader{
		HandshakeTimeout: writeWait,
		WriteBufferPool:  &writeBuffers, // frames are prepared, so a socket needs none of its own
		ReadBufferSize:   256,           // for pongs; the server's buffer of 4 KB is given back
		// A frame is compressed once for all sockets, and holds nothing of one person.
		EnableCompression: true,
		CheckOrigin:       func(*http.Request) bool { return true },
		Error:             func(_ http.ResponseWriter, _ *http.Request, status int, _ error) { fail(status) },
	}
	return up.Upgrade(hijacker{w}, r, header)
}

// writeBuffers are those of sockets that are writing a control frame.
var writeBuffers sync.Pool

// hijacker is a response whose connection can be taken over through what wraps it.
type hijacker struct{ http.ResponseWriter }

func (h hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return http.NewResponseController(h.ResponseWriter).Hijack()
}

// wsMessage is a frame prepared once and written to many sockets.
type wsMessage struct {
	prepared *websocket.PreparedMessage
	text     []byte // for those who ask without a socket
}

func newMessage(v any) (*wsMessage, error) {
	data, err := MarshalFrame(v)
	if err != nil {
		return nil, err
	}
	return prepare(websocket.TextMessage, data)
}

func prepare(kind int, data []byte) (*wsMessage, error) {
	p, err := websocket.NewPreparedMessage(kind, data)
	if err != nil {
		return nil, err
	}
	return &wsMessage{p, data}, nil
}

// goodbye is a close frame.
func goodbye(code int) (*wsMessage, error) {
	return prepare(websocket.CloseMessage, websocket.FormatCloseMessage(code, ""))
}

// ping is the same for all sockets.
var ping = sync.OnceValue(func() *wsMessage {
	m, err := prepare(websocket.PingMessage, nil)
	if err != nil {
		panic(err) // nothing in it can be wrong
	}
	return m
})
