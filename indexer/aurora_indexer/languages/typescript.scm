; inherits: ecmascript
; Captures are explained in languages/__init__.py.

(abstract_class_declaration name: (_) @name body: (_) @body) @class
(interface_declaration name: (_) @name body: (_) @body) @interface
(type_alias_declaration name: (_) @name) @type
(enum_declaration name: (_) @name body: (_) @body) @enum
(internal_module name: (_) @name body: (_) @body) @namespace
(module name: (_) @name body: (_) @body) @namespace
(public_field_definition name: (_) @name value: [
  (arrow_function body: (_) @body)
  (function_expression body: (_) @body)
]) @method

(ambient_declaration [
  (class_declaration) (abstract_class_declaration) (interface_declaration) (type_alias_declaration)
  (enum_declaration) (internal_module) (module)
]) @wrapper
(expression_statement (internal_module)) @wrapper

(extends_clause value: [(identifier) (member_expression)] @inherits)
(implements_clause [(type_identifier) (nested_type_identifier) (generic_type)] @inherits)
(extends_type_clause type: [(type_identifier) (nested_type_identifier) (generic_type)] @inherits)
