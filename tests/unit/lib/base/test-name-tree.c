// SPDX-License-Identifier: Apache-2.0
#include "lib/base/name-tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

enum { MANY = 5000 };

static struct name_node *add(struct name_tree *t, struct name_node *parent, const char *name)
{
	return name_tree_add(t, parent, str_from(name));
}

static void test_nodes_are_found_by_name(void **state UNUSED)
{
	CLEANUP(name_tree_release) struct name_tree t = {0};
	assert_null(name_tree_child(&t, NULL, str_from("a")));
	struct name_node *a = add(&t, NULL, "a"), *b = add(&t, a, "a");
	assert_ptr_not_equal(a, b);
	assert_ptr_equal(add(&t, NULL, "a"), a);
	assert_ptr_equal(name_tree_child(&t, a, str_from("a")), b);
	assert_null(name_tree_child(&t, b, str_from("a")));
	assert_int_equal(t.nodes, 2);
}

static void test_the_path_has_all_names(void **state UNUSED)
{
	CLEANUP(name_tree_release) struct name_tree t = {0};
	CLEANUP(buf_release) struct buf path;
	buf_init(&path, 100);
	name_tree_path(add(&t, add(&t, add(&t, NULL, "p"), "a b"), "c"), &path);
	assert_string_equal(path.data, "p/a b/c");
}

static void test_several_nodes_have_one_number(void **state UNUSED)
{
	CLEANUP(name_tree_release) struct name_tree t = {0};
	struct name_node *a = add(&t, NULL, "a"), *b = add(&t, NULL, "b");
	name_tree_number(&t, a, 7);
	name_tree_number(&t, b, 7);
	const struct name_node *first = name_tree_numbered(&t, 7), *second = name_tree_again(first);
	assert_true((first == a && second == b) || (first == b && second == a));
	assert_null(name_tree_again(second));
	name_tree_number(&t, a, 8);
	assert_ptr_equal(name_tree_numbered(&t, 7), b);
	assert_ptr_equal(name_tree_numbered(&t, 8), a);
	name_tree_number(&t, a, NAME_NODE_NONE);
	assert_null(name_tree_numbered(&t, 8));
	assert_null(name_tree_numbered(&t, NAME_NODE_NONE));
	assert_int_equal(t.numbered, 1);
}

static void test_siblings_leave_in_any_order(void **state UNUSED)
{
	CLEANUP(name_tree_release) struct name_tree t = {0};
	struct name_node *p = add(&t, NULL, "p");
	struct name_node *a = add(&t, p, "a"), *b = add(&t, p, "b"), *c = add(&t, p, "c");
	name_tree_remove(&t, b);
	name_tree_remove(&t, c);
	assert_ptr_equal(p->child, a);
	assert_null(a->next);
	assert_null(name_tree_child(&t, p, str_from("b")));
	name_tree_remove(&t, a);
	assert_null(p->child);
	name_tree_remove(&t, p);
	assert_null(t.top);
	assert_int_equal(t.nodes, 0);
}

static void test_many_nodes_are_found_after_growth(void **state UNUSED)
{
	CLEANUP(name_tree_release) struct name_tree t = {0};
	struct name_node *p = add(&t, NULL, "p");
	char name[16];
	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "%d", i);
		name_tree_number(&t, add(&t, p, name), i);
	}
	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "%d", i);
		assert_ptr_equal(name_tree_child(&t, p, str_from(name)), name_tree_numbered(&t, i));
		assert_string_equal(name_tree_numbered(&t, i)->name, name);
	}
	assert_int_equal(t.numbered, MANY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nodes_are_found_by_name),
		cmocka_unit_test(test_the_path_has_all_names),
		cmocka_unit_test(test_several_nodes_have_one_number),
		cmocka_unit_test(test_siblings_leave_in_any_order),
		cmocka_unit_test(test_many_nodes_are_found_after_growth),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
