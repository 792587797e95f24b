/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See access.h. The first rule that applies decides. */
#include "serve/access.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- tokens ----------------------------------------------------------------------- */

static const char base64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
			     "0123456789";

bool access_is_token(const char *text)
{
	size_t length =
		strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
			     "0123456789-._~+/=");

	return !text[length] && length >= ACCESS_TOKEN_MIN && length <= ACCESS_TOKEN_MAX;
}

static char digit_of(unsigned value)
{
	return value < 62 ? base64[value] : value == 62 ? '-' : '_';
}

void access_make_token(const unsigned char random[24], char token[33])
{
	for (size_t i = 0; i < 8; i++) {
		const unsigned char *from = random + 3 * i;
		unsigned bits =
			(unsigned)from[0] << 16 | (unsigned)from[1] << 8 | from[2];

		for (size_t j = 0; j < 4; j++)
			token[4 * i + j] = digit_of(bits >> (18 - 6 * j) & 63);
	}
	token[32] = '\0';
}

/* Compare in constant time, so that timing does not tell how much of the token is right. */
static bool is_right(const struct access_rules *rules, const char *token)
{
	size_t wanted = strlen(rules->token), length = strlen(token);
	unsigned differ = length != wanted;

	for (size_t i = 0; i < wanted; i++)
		differ |= (unsigned)(rules->token[i] ^ token[i < length ? i : 0]);
	return !differ && wanted;
}

static int value_of_digit(char c)
{
	const char *at = c ? strchr(base64, c) : NULL;

	return at ? (int)(at - base64) : c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Decode base64 with or without padding; text is at least as long as from. False: not
 * base64, or it has a NUL. */
static bool decode_base64(const char *from, char *text)
{
	unsigned bits = 0, count = 0;
	size_t length = strcspn(from, "=");

	if (strspn(from + length, "=") != strlen(from + length))
		return false;
	for (size_t i = 0; i < length; i++) {
		int value = value_of_digit(from[i]);

		if (value < 0)
			return false;
		bits = bits << 6 | (unsigned)value;
		count += 6;
		if (count < 8)
			continue;
		count -= 8;
		*text = (char)(bits >> count & 255);
		if (!*text++)
			return false;
	}
	*text = '\0';
	return true;
}

/* What follows a scheme such as "Bearer ", ignoring case; NULL: another scheme. */
static const char *after_scheme(const char *value, const char *scheme)
{
	size_t length = strlen(scheme);

	if (strncasecmp(value, scheme, length) != 0 || value[length] != ' ')
		return NULL;
	value += length;
	return value + strspn(value, " ");
}

/* The token of Bearer, or the password of Basic for any user. buffer
 * is as long as the value. */
static const char *sent_token(const char *authorization, char *buffer)
{
	const char *value = after_scheme(authorization, "Bearer"), *colon;

	if (value)
		return value;
	value = after_scheme(authorization, "Basic");
	if (!value || !decode_base64(value, buffer))
		return "";
	colon = strchr(buffer, ':');
	return colon ? colon + 1 : "";
}

/* A token in the query is only taken for the page: it would stay in histories and logs. */
static const char *query_token(const struct http_request *request, char *buffer)
{
	static const char name[] = "token=";

	if (strcmp(request->path, "/") != 0 ||
	    strncmp(request->query, name, strlen(name)) != 0)
		return NULL;
	if (!http_decode(request->query + strlen(name),
			 strlen(request->query + strlen(name)), false, "", buffer,
			 HTTP_VALUE_MAX))
		return "";
	return buffer;
}

/* ---- names of the server ------------------------------------------------------------ */

static bool is_address(const char *host)
{
	struct in6_addr address;

	return inet_pton(AF_INET, host, &address) == 1;
}

static bool is_address_6(const char *host, size_t length)
{
	char text[INET6_ADDRSTRLEN];
	struct in6_addr address;

	if (length < 2 || length - 2 >= sizeof(text) || host[length - 1] != ']')
		return false;
	memcpy(text, host + 1, length - 2);
	text[length - 2] = '\0';
	return inet_pton(AF_INET6, text, &address) == 1;
}

/* Is text ":" and our port, or empty? */
static bool is_port(const struct access_rules *rules, const char *text)
{
	char own[8];

	snprintf(own, sizeof(own), ":%u", (unsigned)rules->port);
	return !*text || strcmp(text, own) == 0;
}

/* DNS rebinding: the owner of any other name can make it resolve to our address. A browser
 * would then take his page for one of this server. */
static bool is_own_name(const struct access_rules *rules, const char *host)
{
	char name[HTTP_VALUE_MAX];
	size_t length = *host == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");

	if (length > strlen(host) || !is_port(rules, host + length))
		return false;
	if (*host == '[')
		return is_address_6(host, length);
	memcpy(name, host, length);
	name[length] = '\0';
	if (is_address(name) || strcasecmp(name, "localhost") == 0)
		return true;
	for (size_t i = 0; i < rules->name_count; i++) {
		if (strcasecmp(name, rules->names[i]) == 0)
			return true;
	}
	return false;
}

/* Browsers tell which page made them send a request; typed addresses and other clients have
 * no such header. */
static bool is_of_other_page(const struct http_request *request)
{
	static const char scheme[] = "http://";
	const char *site = request->fetch_site;

	if (request->has_fetch_site && strcmp(site, "same-origin") != 0 &&
	    strcmp(site, "none") != 0)
		return true;
	return request->has_origin &&
	       (strncmp(request->origin, scheme, strlen(scheme)) != 0 ||
		strcasecmp(request->origin + strlen(scheme), request->host) != 0);
}

/* ---- the rules ------------------------------------------------------------------------ */

bool access_is_own(const struct access_rules *rules, const struct access_peer *peer)
{
	return peer->known && (peer->user == 0 || peer->user == rules->own);
}

bool access_is_target(const struct access_rules *rules, const struct access_peer *peer)
{
	return peer->known && rules->has_target && peer->user == rules->target;
}

static const char other_page[] = "it was asked by a page of another server";

static struct access_verdict refuse(int status, const char *reason)
{
	return (struct access_verdict){ .status = status, .reason = reason };
}

/* A browser also sends a known Basic password with requests that other pages cause. Those
 * may only link to the page at "/", which records nothing. */
static bool is_sent_by_itself(const struct http_request *request)
{
	return request->has_authorization && strcmp(request->path, "/") != 0 &&
	       after_scheme(request->authorization, "Basic");
}

struct access_verdict access_check(const struct access_rules *rules,
				   const struct http_request *request,
				   const struct access_peer *peer)
{
	char buffer[HTTP_VALUE_MAX];
	const char *token = NULL;

	if (*rules->token)
		token = request->has_authorization
				? sent_token(request->authorization, buffer)
				: query_token(request, buffer);
	if (token && is_right(rules, token)) {
		if (is_sent_by_itself(request) && is_of_other_page(request))
			return refuse(403, other_page);
		return (struct access_verdict){ 0 };
	}
	if (token)
		return (struct access_verdict){ 401, true, false, "the token is wrong" };
	if (rules->port && request->has_host && !is_own_name(rules, request->host))
		return refuse(421, "unknown host name in the request: see --serve-host");
	if (is_of_other_page(request))
		return refuse(403, other_page);
	if (access_is_own(rules, peer))
		return (struct access_verdict){ 0 };
	if (access_is_target(rules, peer))
		return (struct access_verdict){ 0, false, true, NULL };
	return refuse(
		401,
		"only root, the user who runs pmp, or a client with the token may ask");
}
