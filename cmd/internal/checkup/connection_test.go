package checkup

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// Doctor says why it cannot reach a service and what helps: a wrong clock or a missing certificate is not reported as a
// fault of the network or the address.
func TestConnectionsThatFail(t *testing.T) {
	serve := func(secure bool, certificate ...tls.Certificate) string {
		s := httptest.NewUnstartedServer(http.NotFoundHandler())
		s.Config.ErrorLog = log.New(t.Output(), "", 0)
		t.Cleanup(s.Close)
		if !secure {
			s.Start()
			return "https" + strings.TrimPrefix(s.URL, "http")
		}
		s.TLS = &tls.Config{Certificates: certificate, MinVersion: tls.VersionTLS12}
		s.StartTLS()
		return s.URL
	}
	for _, tt := range []struct{ name, address, fix string }{
		{"a certificate from nobody", serve(true), "SSL_CERT_FILE"},
		{"a certificate of another time", serve(true, expired(t)), "clock"},
		{"no TLS", serve(false), "http://"},
		{"nobody", "http://127.0.0.1:1", "llm.baseUrl and the network"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := AskModel(t.Context(), config.LLM{Provider: config.ProviderCustom, BaseURL: tt.address, APIKey: config.NewSecret("canary"), Model: "m"})
			if len(got) != 1 || got[0].Mark != Fail || !strings.Contains(got[0].Fix, tt.fix) {
				t.Errorf("found %+v, want a fix with %q", got, tt.fix)
			}
		})
	}
}

// expired is a certificate whose time is over.
func expired(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	stdtest.Must(t, err)
	of := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Unix(0, 0), NotAfter: time.Unix(3600, 0)}
	der, err := x509.CreateCertificate(rand.Reader, of, of, &key.PublicKey, key)
	stdtest.Must(t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}
