package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"unicode"
)

// accepted are the forms of manifests and indexes that are understood.
var accepted = strings.Join([]string{
	"application/vnd.oci.image.manifest.v1+json", "application/vnd.oci.image.index.v1+json",
	"application/vnd.docker.distribution.manifest.v2+json", "application/vnd.docker.distribution.manifest.list.v2+json",
}, ", ")

// get asks a registry for something small of a repository.
func (r *Reader) get(ctx context.Context, s source, what string) (body []byte, digest string, err error) {
	answer, err := r.open(ctx, s, what)
	if err != nil {
		return nil, "", err
	}
	defer answer.Body.Close()
	body, err = bounded(answer.Body, manifestLimit)
	return body, answer.Header.Get("Docker-Content-Digest"), err
}

// open asks a registry for something of a repository, and logs in when it asks for that.
func (r *Reader) open(ctx context.Context, s source, what string) (*http.Response, error) {
	if err := r.isDead(s.ref.Host); err != nil {
		return nil, err
	}
	answer, err := r.ask(ctx, s, what)
	if err != nil {
		return nil, r.failed(ctx, s.ref.Host, err)
	}
	if answer.StatusCode == http.StatusUnauthorized {
		challenge := answer.Header.Get("WWW-Authenticate")
		answer.Body.Close()
		if err := r.logIn(ctx, s, challenge); err != nil {
			return nil, err
		}
		if answer, err = r.ask(ctx, s, what); err != nil {
			return nil, r.failed(ctx, s.ref.Host, err)
		}
	}
	if answer.StatusCode != http.StatusOK {
		answer.Body.Close()
		return nil, fmt.Errorf("it answers %d %s", answer.StatusCode, http.StatusText(answer.StatusCode))
	}
	return answer, nil
}

// bounded reads an answer that may go on for ever.
func bounded(from io.Reader, limit int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(from, limit+1))
	if err != nil {
		return nil, fmt.Errorf("reading its answer: %w", err)
	}
	if int64(len(b)) > limit {
		return nil, fmt.Errorf("its answer is larger than %d bytes", limit)
	}
	return b, nil
}

// ask sends one request. An insecure registry may speak no TLS at all.
func (r *Reader) ask(ctx context.Context, s source, what string) (*http.Response, error) {
	scheme := "https"
	if r.isPlain(s) {
		scheme = "http"
	}
	answer, err := r.send(ctx, s, scheme, what)
	if err != nil && s.insecure && scheme == "https" && ctx.Err() == nil {
		if answer, second := r.send(ctx, s, "http", what); second == nil {
			r.mu.Lock()
			r.plain[s.ref.Host] = true
			r.mu.Unlock()
			return answer, nil
		}
	}
	return answer, err
}

func (r *Reader) send(ctx context.Context, s source, scheme, what string) (*http.Response, error) {
	u := url.URL{Scheme: scheme, Host: s.ref.Host, Path: "/v2/" + s.ref.Path + "/" + what}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("asking it: %w", err)
	}
	req.Header.Set("Accept", accepted)
	client, token := r.session(s)
	if strings.HasPrefix(what, blobsPath) { // its size says how long it may take, see Blob
		unlimited := *client
		unlimited.Timeout = 0
		client = &unlimited
	}
	if token != "" {
		req.Header.Set("Authorization", token)
	}
	answer, err := client.Do(req)
	if err != nil {
		return nil, r.clean(err)
	}
	return answer, nil
}

// clean drops the URL, which may carry what a registry put into it, and masks and shortens what is left.
func (r *Reader) clean(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	return errors.New(short(r.logins.Mask(err.Error())))
}

// short keeps what a registry wrote to some printable words.
func short(text string) string {
	text = strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return '?'
		}
		return c
	}, text)
	if len(text) > shownLimit {
		text = strings.ToValidUTF8(text[:shownLimit], "") + "…"
	}
	return text
}

func (r *Reader) session(s source) (client *http.Client, token string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := fmt.Sprint(s.ref.Host, s.insecure)
	if r.clients[key] == nil {
		r.clients[key] = r.client(s.ref.Host, s.insecure)
	}
	return r.clients[key], r.tokens[s.ref.Name()]
}

// isPlain is only ever true where the settings allow it.
func (r *Reader) isPlain(s source) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return s.insecure && r.plain[s.ref.Host]
}

func (r *Reader) isDead(host string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.dead[host]
}

// failed remembers a registry that nobody reaches: with hundreds of images to ask for, the waits would add up.
func (r *Reader) failed(ctx context.Context, host string, err error) error {
	if ctx.Err() == nil {
		r.mu.Lock()
		r.dead[host] = err
		r.mu.Unlock()
	}
	return err
}

var parameter = regexp.MustCompile(`([a-z]+)="([^"]*)"`)

// logIn does what a challenge asks for: a token of the realm, or the credentials themselves.
func (r *Reader) logIn(ctx context.Context, s source, challenge string) error {
	login, has := r.logins.For(s.ref.Name())
	scheme, rest, _ := strings.Cut(challenge, " ")
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://none", http.NoBody)
	if err != nil {
		return fmt.Errorf("logging in: %w", err)
	}
	if has {
		req.SetBasicAuth(login.User, login.Password)
	}
	switch {
	case strings.EqualFold(scheme, "basic") && has:
		r.keep(s, req.Header.Get("Authorization"))
		return nil
	case !strings.EqualFold(scheme, "bearer"):
		return errors.New("it wants credentials that the node does not have")
	}
	realm, err := realm(s, rest)
	if err != nil {
		return err
	}
	req.URL, req.Host = realm, realm.Host
	return r.token(s, req)
}

// realm is where a challenge wants a token to be fetched, for nothing but a pull of this repository.
func realm(s source, challenge string) (*url.URL, error) {
	ask := map[string]string{}
	for _, p := range parameter.FindAllStringSubmatch(challenge, -1) {
		ask[p[1]] = p[2]
	}
	realm, err := url.Parse(ask["realm"])
	if err != nil || realm.Host == "" || realm.Scheme != "https" && (realm.Scheme != "http" || !s.insecure) {
		return nil, errors.New("it asks to log in at a place that is none, or that is not secure")
	}
	query := realm.Query()
	query.Set("scope", "repository:"+s.ref.Path+":pull") // not what it asks for: nothing but this is needed
	if ask["service"] != "" {
		query.Set("service", ask["service"])
	}
	realm.RawQuery = query.Encode()
	return realm, nil
}

func (r *Reader) token(s source, req *http.Request) error {
	at := s
	at.ref.Host = req.URL.Host // another server has other authorities
	client, _ := r.session(at)
	answer, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("logging in: %w", r.clean(err))
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("logging in: %d %s", answer.StatusCode, http.StatusText(answer.StatusCode))
	}
	body, err := bounded(answer.Body, 1<<20)
	if err != nil {
		return fmt.Errorf("logging in: %w", err)
	}
	var given struct {
		Token  string `json:"token"`
		Access string `json:"access_token"`
	}
	if json.Unmarshal(body, &given) != nil || given.Token+given.Access == "" {
		return errors.New("logging in: what it sent has no token")
	}
	if given.Token == "" {
		given.Token = given.Access
	}
	if strings.ContainsAny(given.Token, "\r\n") {
		return errors.New("logging in: what it sent is not a token")
	}
	r.keep(s, "Bearer "+given.Token)
	return nil
}

func (r *Reader) keep(s source, token string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tokens[s.ref.Name()] = token
}
