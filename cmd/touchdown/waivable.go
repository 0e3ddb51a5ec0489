package main

import (
	"slices"
	"strings"

	"touchdown/backend/check"
	"touchdown/backend/message"
	"touchdown/backend/value"
	"touchdown/steps/view"
)

// checksOfTouchdown are the IDs of its checks, but for those that are named after a part of the machine. A command line that serves many
// nodes may waive a check that this one does not have: no second DNS server, no IPv6.
func checksOfTouchdown() []string {
	return strings.Fields(`
hw-boot-mode hw-clock hw-cpu hw-cpu-flags hw-disk hw-disk-latency hw-disk-type hw-link hw-memory hw-nics hw-rtc hw-secure-boot hw-serial
hw-shipped hw-shipped-unread hw-speed hw-tpm hw-var hw-virtual
order-bios order-disks order-model order-modules order-nics order-serial order-sheet wiring
net-address net-api-int net-carrier net-dhcp net-dns-1 net-duplicate net-gateway net-mtu net-ntp-1 net-ptr net-registry net-router net-up
network-now network-probe network-sense
burn-in-cpu burn-in-disk burn-in-ecc burn-in-memory burn-in-ports burn-in-smart burn-in-temperature burn-in-throttling
bake-kubelet-client-current.pem bake-kubelet-server-current.pem bake-node bake-pool bake-signer cluster-backup copy
images images-always images-conf images-half images-listed images-missing images-moved images-rehearsed images-store images-whole
access add-ons alerts api api-services cert-api cert-api-new cert-apps certs cluster-dns controllers csrs etcd etcd-latency events
identity-addresses identity-names node node-pressure node-schedulable olm operator-versions operators operators-optional pod-gateway
pod-request pods pools routers routes static-pods storage units version web-canary web-console web-login webhooks
catalogs clock clock-battery cluster-report console-lock csr-key csr-left delivery kubeadmin local-names manifests manifests-dropped
names-now node-certs node-config-reboot node-config-taken node-labels report-signature resolv-conf routes-kept site-address trust-files
`)
}

// ofParts begin the IDs of checks that are named after a part of the machine: only the machine knows them.
var ofParts = []string{"hw-shipped-", "wiring-", "medium-", "tick-"}

// mayBeCheck tells whether a machine can have a check of this ID.
func mayBeCheck(id string) bool {
	return isCheck(id) || slices.ContainsFunc(ofParts, func(family string) bool { return len(id) > len(family) && strings.HasPrefix(id, family) })
}

// isCheck tells whether Touchdown has a check of this ID, whatever the machine is.
func isCheck(id string) bool {
	if step, ok := strings.CutSuffix(id, "-inspect"); ok && step != "" { // of a step whose first look failed
		return true
	}
	if strings.HasPrefix(id, "net-") {
		id = strings.TrimSuffix(id, "-ipv6")
		for _, family := range []string{"net-dns-", "net-ntp-"} { // one for each server
			if n, ok := strings.CutPrefix(id, family); ok && n != "" && strings.Trim(n, "0123456789") == "" {
				return true
			}
		}
	}
	return slices.Contains(checksOfTouchdown(), id)
}

// likeCheck is the ID that a mistyped one most likely means, as the end of a sentence.
func likeCheck(id string) string {
	if near := value.Nearest(id, checksOfTouchdown()); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}

// titled is the title of a check, with its ID behind it where --waive could name it. The fix of some has it already.
func titled(c check.Check) string {
	if (c.Status != check.Fail && c.Status != check.Warn) || strings.Contains(c.Fix.String(), "("+c.ID+")") {
		return c.Title.String()
	}
	return c.Title.String() + " [" + c.ID + "]"
}

// withIDs are texts of a review in English, those that tell a check with its ID as titled has it.
func withIDs(r *view.Review, texts []message.Text) []string {
	all := message.English(texts)
	for i, text := range all {
		for _, c := range r.Checks { // two servers with the same fault have one text
			if c.Text.String() == text {
				title := titled(check.Check{ID: c.ID, Title: c.Title, Status: c.Status, Fix: c.Text})
				all[i] = title + strings.TrimPrefix(all[i], c.Title.String())
			}
		}
	}
	return all
}
