; Captures are explained in languages/__init__.py.

(function_definition body: (_) @body) @function
(function_definition declarator: [
  (function_declarator declarator: (_) @name)
  (pointer_declarator declarator: [
    (function_declarator declarator: (_) @name)
    (pointer_declarator declarator: [
      (function_declarator declarator: (_) @name)
      (pointer_declarator declarator: (function_declarator declarator: (_) @name))
    ])
  ])
])

; TEST_IMPL(name) { … }
(function_definition type: (type_identifier) declarator: (parenthesized_declarator (identifier) @name))

(struct_specifier name: (_) @name body: (_) @body) @struct
(union_specifier name: (_) @name body: (_) @body) @struct
(enum_specifier name: (_) @name body: (_) @body) @enum

(type_definition type: (struct_specifier !name body: (_) @body) declarator: (type_identifier) @name) @struct
(type_definition type: (union_specifier !name body: (_) @body) declarator: (type_identifier) @name) @struct
(type_definition type: (enum_specifier !name body: (_) @body) declarator: (type_identifier) @name) @enum
(type_definition type: [
  (struct_specifier name: (_) body: (_))
  (union_specifier name: (_) body: (_))
  (enum_specifier name: (_) body: (_))
]) @wrapper
; typedef struct _tag { … } name: its other name, too.
(type_definition
  type: [
    (struct_specifier name: (type_identifier) @_tag body: (_))
    (union_specifier name: (type_identifier) @_tag body: (_))
    (enum_specifier name: (type_identifier) @_tag body: (_))
  ]
  declarator: [(type_identifier) @name @type (pointer_declarator declarator: (type_identifier) @name @type)]
  (#not-eq? @_tag @name))
(type_definition
  type: [
    (type_identifier) (primitive_type) (sized_type_specifier)
    (struct_specifier !body) (union_specifier !body) (enum_specifier !body)
  ]
  declarator: [
    (type_identifier) @name
    (primitive_type) @name
    (pointer_declarator declarator: (type_identifier) @name)
    (array_declarator declarator: (type_identifier) @name)
    (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name)))
    (pointer_declarator declarator: (function_declarator declarator:
      (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name))))
  ]) @type

(preproc_function_def name: (identifier) @name value: (_) @body) @macro

(comment) @comment
(preproc_ifdef ["#ifndef" "#ifdef" "#endif"] @trivia)
(preproc_ifdef name: (identifier) @trivia)
(preproc_def !value) @trivia
(preproc_call directive: (preproc_directive) argument: (preproc_arg)) @trivia

(call_expression function: [(identifier) (field_expression)] @call)

[(if_statement) (case_statement) (conditional_expression)] @branch
[(for_statement) (while_statement) (do_statement)] @loop

(preproc_include) @import
